import { betterAuth } from 'better-auth';
import { memoryAdapter } from 'better-auth/adapters/memory';

export const auth = betterAuth({
  baseURL: `http://127.0.0.1:${process.env['PORT'] ?? 3000}`,
  secret: process.env['BETTER_AUTH_SECRET'] ?? 'a secret of at least 32 characters',
  database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
  // Each route and page of Next has a memory of its own: they read the session from its cookie.
  session: { cookieCache: { enabled: true } },
  emailAndPassword: { enabled: true },
});
