// server/context.ts
import { getSessionCookie } from 'better-auth/cookies';
import { auth } from './auth';

export async function createTRPCContext({ headers }: { headers: Headers }) {
  const session = await auth.api.getSession({ headers });
  return { user: session?.user.name };
}

export const callerOf = (headers: Headers) => getSessionCookie(headers) ?? undefined;
