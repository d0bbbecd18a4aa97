// server/context.ts
import { auth } from './auth';

export async function createTRPCContext({ headers }: { headers: Headers }) {
  const session = await auth.api.getSession({ headers });
  return { user: session?.user.name };
}
