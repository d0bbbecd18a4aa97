import { randomUUID } from 'node:crypto';

export interface Session {
  readonly email: string;
  readonly role: 'admin' | 'agent';
}

const users = [
  { email: 'ada@desk.example', password: 'lovelace', role: 'admin' },
  { email: 'bob@desk.example', password: 'builder', role: 'agent' },
] as const;
const sessions = new Map<string, Session>();

/** Returns the token of a new session, or `undefined` for a wrong email address or password. */
export function signIn(email: string, password: string): string | undefined {
  const user = users.find((each) => each.email === email && each.password === password);
  if (user === undefined) return undefined;
  const token = randomUUID();
  sessions.set(token, { email, role: user.role });
  return token;
}

export const findSession = async (token: string): Promise<Session | undefined> => sessions.get(token);
