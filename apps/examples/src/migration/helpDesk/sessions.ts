import { randomUUID } from 'node:crypto';

export interface Session {
  readonly email: string;
  readonly role: 'admin' | 'agent';
}

const passwords = new Map([
  ['ada@desk.example', 'lovelace'],
  ['bob@desk.example', 'builder'],
]);
/** Sessions by token. The first is that of the customer's scripts. */
const sessions = new Map<string, Session>([['good', { email: 'scripts@desk.example', role: 'admin' }]]);

/** Returns the token of a new session, or `undefined` for a wrong email address or password. */
export function signIn(email: string, password: string): string | undefined {
  if (passwords.get(email) !== password) return undefined;
  const token = randomUUID();
  sessions.set(token, { email, role: email.startsWith('ada') ? 'admin' : 'agent' });
  return token;
}

/** Returns false if the address is taken. */
export function signUp(email: string, password: string): boolean {
  if (passwords.has(email)) return false;
  passwords.set(email, password);
  return true;
}

export const findSession = async (token: string): Promise<Session | undefined> => sessions.get(token);

export function signOut(email: string): void {
  for (const [token, session] of sessions) if (session.email === email) sessions.delete(token);
}

export const changePassword = (email: string, password: string): void => {
  passwords.set(email, password);
};

export const users = (): string[] => [...passwords.keys()];
