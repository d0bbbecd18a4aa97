import { expect, test } from 'vitest';
import { newSnippets, readReadme } from './readme.ts';

const programs = (await readReadme('docs/migrating/sessions.md')).programs();

/** Serves a router by a `createContext`, and prints who calls, over REST and tRPC, and which cookies are set. */
const main = (context: string, setup: string) => `
  import { createGateway } from 'trpc-gateway';
  import { initTRPC } from '@trpc/server';
  import { createContext } from './${context}';
  ${setup}

  const t = initTRPC.context<typeof createContext>().create();
  const router = t.router({ whoami: t.procedure.query(({ ctx }) => ctx.session?.user?.name ?? 'nobody') });
  const gateway = await createGateway({
    router,
    createContext,
    document: { title: 'Sessions', version: '1.0.0' },
    openapi: true,
  });
  for (const cookie of [await signIn(), '']) {
    for (const path of ['/v1/whoami', '/trpc/whoami']) {
      const response = await gateway.fetch(new Request(\`http://localhost:3000\${path}\`, { headers: { cookie } }));
      console.log(await response.text(), response.headers.getSetCookie().map((each) => each.split('=')[0]).join());
    }
  }
`;
const printed = (cookies: string) =>
  `"Ada" ${cookies}\n{"result":{"data":"Ada"}} ${cookies}\n"nobody" \n{"result":{"data":"nobody"}} \n`;

test('the recipe for Better Auth reads its session and renews its cookies, and that for NextAuth needs no request', async () => {
  expect(Object.keys(programs)).toEqual(['betterAuthContext.ts', 'nextContext.ts']);
  const { write, compile, run } = await newSnippets();
  await write({
    ...programs,
    'auth.ts': `
      import { betterAuth } from 'better-auth';
      import { memoryAdapter } from 'better-auth/adapters/memory';

      export const auth = betterAuth({
        baseURL: 'http://localhost:3000',
        secret: 'a secret of at least 32 characters.',
        database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
        emailAndPassword: { enabled: true },
        // Renewed by each request.
        session: { updateAge: 0 },
      });
    `,
    'betterAuth.ts': main(
      'betterAuthContext.ts',
      `import { auth } from './auth.ts';
      async function signIn(): Promise<string> {
        const body = { name: 'Ada', email: 'ada@example.com', password: 'correct horse' };
        const { headers } = await auth.api.signUpEmail({ body, returnHeaders: true });
        return headers.getSetCookie().map((cookie) => cookie.split(';')[0]).join('; ');
      }`,
    ),
    'authOptions.ts': "export const authOptions = { secret: 'secret' };\n",
    'nextAuth.ts': `
      import { createContext } from './nextContext.ts';
      console.log((await createContext()).session?.user?.name);
    `,
    'node_modules/next-auth/package.json': '{ "main": "index.js", "types": "index.d.ts" }',
    // It needs Next and React.
    'node_modules/next-auth/index.js': "exports.getServerSession = async () => ({ user: { name: 'Ada' } });",
    'node_modules/next-auth/index.d.ts':
      'export declare function getServerSession(options: object): Promise<{ user?: { name?: string } } | null>;',
  });
  await compile();
  expect(await run('betterAuth.ts')).toBe(printed('better-auth.session_token'));
  expect(await run('nextAuth.ts')).toBe('Ada\n');
});
