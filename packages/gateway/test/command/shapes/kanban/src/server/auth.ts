export enum Role {
  Guest = 'guest',
  Member = 'member',
}
export interface Session {
  user: string;
  role: Role;
}
export const findSession = (authorization: string | null): Session | undefined =>
  authorization === 'Bearer ada' ? { user: 'Ada', role: Role.Member } : undefined;
