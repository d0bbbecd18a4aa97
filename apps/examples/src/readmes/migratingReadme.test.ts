import { createTRPCUntypedClient, createWSClient, httpBatchLink, splitLink, wsLink } from '@trpc/client';
import { expect, onTestFinished, test } from 'vitest';
import { type Files, newSnippets, readReadme, type Side } from './readme.ts';

const sessions: Files = {
  'sessions.ts': `
    export const sessionOf = (token: string | undefined) =>
      token === 'token-of-ada' ? { name: 'Ada' } : undefined;
  `,
};
const books: Files = {
  'books.ts': `
    import { z } from 'zod';
    export const Book = z.object({ id: z.int(), title: z.string() });
    const books = [{ id: 1, title: 'Middlemarch' }];
    export const findBook = (id: number) => books.find((book) => book.id === id);
    export const addBook = (title: string, user: string | undefined) => ({ id: 2, title: \`\${title} of \${user}\` });
  `,
};
const trpcToOpenApiPage = await readReadme('docs/migrating/from-trpc-to-openapi.md');
/** The option that replaces generated metadata, in the section "Generated metadata". */
const [generatedMetadata = ''] = trpcToOpenApiPage.blocks('typescript');
const serverWith = (options: string) => `
  import { createGateway } from 'trpc-gateway';
  import { serve } from 'trpc-gateway/node';
  import { trpcToOpenApi } from 'trpc-gateway/trpc-to-openapi';
  import { appRouter } from './router.ts';

  const gateway = await createGateway({
    ${options.trim()}
    router: appRouter,
    createContext: () => ({}),
  });
  await serve(gateway, { port: 3000 });
`;
/** The app of the section "Generated metadata" before the migration. */
const generatedMetadataBefore = `
  import express from 'express';
  import { createOpenApiExpressMiddleware } from 'trpc-to-openapi';
  import { appRouter } from './router.ts';

  for (const [path, { _def }] of Object.entries<any>(appRouter._def.procedures)) {
    const method = _def.type === 'query' ? 'GET' : 'POST';
    _def.meta = { openapi: { method, path: \`/\${path}\`, tags: [path.split('.')[0]] }, ..._def.meta };
  }
  const app = express();
  app.use(express.json());
  app.use('/api', createOpenApiExpressMiddleware({ router: appRouter, createContext: () => ({}) }));
  app.listen(3000);
`;
/**
 * The apps of the pages in docs/migrating: the files that a page does not print, because they do not change, and those of two
 * sections of from-trpc-to-openapi, which print no app.
 */
const apps = {
  'from-trpc-to-openapi': {
    ...sessions,
    'router.ts': `
      import { initTRPC, TRPCError } from '@trpc/server';
      import type { OpenApiMeta } from 'trpc-to-openapi';
      import { z } from 'zod';
      import type { createContext } from './context.ts';

      export class MissingNote extends Error {}
      const t = initTRPC.context<ReturnType<typeof createContext>>().meta<OpenApiMeta>().create({
        isDev: false,
        errorFormatter: ({ shape, error }) => ({ ...shape, isMissing: error.cause instanceof MissingNote }),
      });
      const signedIn = t.procedure.use(({ ctx, next }) => {
        if (ctx.session === undefined) throw new TRPCError({ code: 'UNAUTHORIZED', message: 'Sign in.' });
        return next();
      });
      const Note = z.object({ id: z.number(), text: z.string() });
      export const appRouter = t.router({
        notes: t.router({
          list: signedIn
            .meta({ openapi: { method: 'GET', path: '/notes' } })
            .input(z.object({ limit: z.number().default(10) }))
            .output(z.unknown())
            .query(({ input }) => input),
          find: signedIn
            .meta({ openapi: { method: 'GET', path: '/notes/{id}' } })
            .input(z.object({ id: z.number() }))
            .output(Note)
            .query(({ input }) => {
              if (input.id > 9) throw new MissingNote('There is no such note.');
              return { id: input.id, text: 'Hello' };
            }),
        }),
      });
    `,
  },
  'from-trpc-adapters': {
    ...sessions,
    'caching.ts': `
      export const responseMeta = ({ type, errors }: { type: string; errors: readonly object[] }) =>
        type === 'query' && errors.length === 0 ? { headers: { 'cache-control': 'private, max-age=60' } } : {};
    `,
    'router.ts': `
      import { initTRPC } from '@trpc/server';
      import { z } from 'zod';
      import type { createContext } from './context.ts';

      const t = initTRPC.context<Awaited<ReturnType<typeof createContext>>>().create({ isDev: false });
      export const appRouter = t.router({
        me: t.procedure.query(({ ctx }) => ({ name: ctx.session?.name, ip: ctx.ip })),
        send: t.procedure.input(z.object({ text: z.string().min(1) })).mutation(({ input }) => input),
        count: t.procedure.subscription(async function* ({ ctx }) {
          yield ctx.session?.name;
          yield 2;
        }),
      });
    `,
  },
  'from-trpc-openapi': {
    'server.ts': serverWith(`
      restBasePath: '/',
      ...trpcToOpenApi({ title: 'Books', version: '1.0.0' }),
    `),
    'router.ts': `
      import { initTRPC } from '@trpc/server';
      import type { GatewayMeta } from 'trpc-gateway/procedures';
      import { z } from 'zod';

      const t = initTRPC.meta<GatewayMeta>().create();
      const requestHeaders = z.object({ 'X-Tenant': z.string() });
      export const appRouter = t.router({
        find: t.procedure
          .meta({ openapi: { method: 'GET', path: '/books/{id}', protect: false, requestHeaders } })
          .input(z.object({ id: z.number().meta({ examples: [1] }) }))
          .output(z.object({ id: z.number() }))
          .query(({ input }) => input),
      });
    `,
  },
  'generated-metadata': {
    'server.ts': serverWith(`
      ...trpcToOpenApi({ title: 'Deploy', version: '1.0.0' }),
      restBasePath: '/api',
      ${generatedMetadata}
    `),
    'router.ts': `
      import { initTRPC } from '@trpc/server';
      import type { OpenApiMeta } from 'trpc-to-openapi';
      import { z } from 'zod';

      const t = initTRPC.meta<OpenApiMeta>().create({ isDev: false });
      export const appRouter = t.router({
        app: t.router({
          one: t.procedure.input(z.object({ id: z.number() })).output(z.unknown()).query(({ input }) => input),
          deploy: t.procedure.input(z.object({ id: z.number() })).output(z.unknown()).mutation(({ input }) => input),
          hidden: t.procedure
            .meta({ openapi: { enabled: false, method: 'GET', path: '/hidden' } })
            .input(z.object({}))
            .output(z.unknown())
            .query(() => 'hidden'),
        }),
      });
    `,
  },
  'from-orpc': books,
  'from-ts-rest': books,
} satisfies Record<string, Files>;
type Page = keyof typeof apps;

const sides: readonly Side[] = ['before', 'after'];
/** The pages whose former packages are installed. */
const bothSides: readonly Page[] = ['from-trpc-to-openapi', 'from-trpc-adapters', 'generated-metadata'];

/** Returns the files of a page's app: those of its diffs, and those that do not change. */
async function filesOf(page: Page, side: Side = 'after'): Promise<Files> {
  if (page === 'from-trpc-openapi') return apps[page];
  if (page === 'generated-metadata')
    return { ...apps[page], ...(side === 'before' && { 'server.ts': generatedMetadataBefore }) };
  const { programs } = await readReadme(`docs/migrating/${page}.md`);
  return { ...apps[page], ...programs(side) };
}

/** Returns an app with options after its preset. */
const withOptions = (files: Files, options: string): Files => ({
  ...files,
  'server.ts': (files['server.ts'] ?? '').replace(/\.\.\.trpcToOpenApi\(.*\),/, `$&\n${options}`),
});

/** Returns the app of from-trpc-to-openapi with the options that the page prints as fragments. */
async function filesWithFragments(): Promise<Files> {
  const files = withOptions(await filesOf('from-trpc-to-openapi'), trpcToOpenApiPage.blocks('ts').join(''));
  const imports = `import { TRPCError } from '@trpc/server';\nimport { MissingNote } from './router.ts';\n`;
  return { ...files, 'server.ts': `${imports}${files['server.ts']}` };
}

/** Starts the server of an app on a free port. Resolves with its host. */
async function start(files: Files): Promise<string> {
  const snippets = await newSnippets('3000');
  await snippets.write(files);
  await snippets.start('server.ts');
  return snippets.onPorts('127.0.0.1:3000');
}

interface Call {
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request. Resolves with what a client reads: the status, the media type and the body. */
async function send(host: string, { path, body, headers = {} }: Call) {
  const response = await fetch(`http://${host}${path}`, {
    method: body ? 'POST' : 'GET',
    ...(body && { body: JSON.stringify(body) }),
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
  });
  const text = await response.text();
  const value: unknown = text === '' ? undefined : JSON.parse(text);
  return { status: response.status, type: response.headers.get('content-type'), body: value };
}

test('the apps of the pages compile, and those whose former packages are installed before the migration too', async () => {
  const { write, compile } = await newSnippets();
  const inFolder = (folder: string, files: Files) =>
    write(Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text])));
  for (const page of bothSides) await inFolder(`${page}-before`, await filesOf(page, 'before'));
  for (const page of Object.keys(apps) as Page[]) await inFolder(page, await filesOf(page));
  await inFolder('fragments', await filesWithFragments());
  await expect(compile()).resolves.toBeUndefined();
});

const headers = { authorization: 'token-of-ada' };
const unchanged: readonly (readonly [Page, readonly Call[]])[] = [
  [
    'from-trpc-to-openapi',
    [
      { path: '/API/notes/?limit=%2B5', headers },
      { path: '/api/notes?limit=', headers },
      { path: '/api/notes?limit=x', headers },
      { path: '/api/notes' },
      { path: '/api/notes/10', headers },
      { path: '/trpc/notes.find?input=%7B%22id%22%3A7%7D', headers },
      { path: '/trpc/notes.find?input=%7B%22id%22%3A10%7D', headers },
    ],
  ],
  [
    'generated-metadata',
    [
      { path: '/api/app.one?id=5' },
      { path: '/api/app.one?id=x' },
      { path: '/api/app.deploy', body: { id: 5 } },
    ],
  ],
];

test.for(unchanged)(
  'clients of the app of the page %s get the same responses after the migration',
  async ([page, calls]) => {
    // The messages of unexpected errors as in trpc-to-openapi, and no lines of the gateway on stderr.
    const options = 'maskUnexpectedErrors: false,\nonResponse() {},';
    const hosts = sides.map(async (side) => start(withOptions(await filesOf(page, side), options)));
    const [before = '', after = ''] = await Promise.all(hosts);
    for (const call of calls) {
      expect({ call, ...(await send(after, call)) }).toEqual({ call, ...(await send(before, call)) });
    }
  },
);

const json = { type: 'application/json' };
const user = { 'x-user': 'Ada' };
const found = [
  { path: '/api/books/1' },
  { ...json, status: 200, body: { id: 1, title: 'Middlemarch' } },
] as const;
const added = [
  { path: '/api/books', body: { title: 'Emma' }, headers: user },
  { ...json, status: 201, body: { id: 2, title: 'Emma of Ada' } },
] as const;
const missing = { path: '/api/books/7' };
const invalid = { path: '/api/books', body: { title: '' }, headers: user };
const issues = [{ code: 'too_small', path: ['title'], minimum: 1 }];
const note = { code: 'NOT_FOUND', message: 'There is no such note.', isMissing: true };
const noSuchBook = { defined: true, code: 'NO_SUCH_BOOK', status: 404, data: { id: 7 } };
const badRequest = { defined: false, code: 'BAD_REQUEST', status: 400, data: { issues } };
const find = {
  operationId: 'find',
  parameters: [
    { in: 'path', name: 'id', schema: { examples: [1] } },
    { in: 'header', name: 'X-Tenant', required: true },
  ],
};

const migrated: readonly (readonly [string, () => Promise<Files>, readonly (readonly [Call, object])[]])[] = [
  [
    'from-trpc-to-openapi maps errors by the options that the page prints',
    filesWithFragments,
    [
      [{ path: '/api/notes?limit=%2B5', headers }, { status: 200 }],
      [
        { path: '/api/notes/10', headers },
        { status: 404, body: note },
      ],
    ],
  ],
  [
    'from-trpc-openapi documents headers and examples',
    () => filesOf('from-trpc-openapi'),
    [
      [{ path: '/books/5' }, { status: 200, body: { id: 5 } }],
      [{ path: '/openapi.json' }, { body: { paths: { '/books/{id}': { get: find } } } }],
    ],
  ],
  [
    'from-orpc sends oRPC’s bodies',
    () => filesOf('from-orpc'),
    [
      found,
      added,
      [missing, { status: 404, body: noSuchBook }],
      [invalid, { status: 400, body: badRequest }],
    ],
  ],
  [
    'from-ts-rest sends ts-rest’s bodies',
    () => filesOf('from-ts-rest'),
    [
      found,
      added,
      [missing, { ...json, status: 404, body: { message: 'No such book.' } }],
      [invalid, { status: 400, body: { name: 'ZodError', issues } }],
    ],
  ],
];

test.for(migrated)('the app of the page %s', async ([, files, calls]) => {
  const host = await start(await files());
  for (const [call, expected] of calls) expect(await send(host, call)).toMatchObject(expected);
});

test('the app of the page generated-metadata serves no procedure that its metadata turns off', async () => {
  const host = await start(await filesOf('generated-metadata'));
  const { body } = await send(host, { path: '/openapi.json' });
  expect(Object.keys((body as { paths: object }).paths)).toEqual(['/app.one', '/app.deploy']);
});

test.for(sides)(
  'clients of the app of the page from-trpc-adapters work over HTTP and WebSockets %s the migration',
  async (side) => {
    const host = await start(await filesOf('from-trpc-adapters', side));
    const socket = createWSClient({ url: `ws://${host}/trpc`, connectionParams: { token: 'token-of-ada' } });
    onTestFinished(() => socket.close());
    const client = createTRPCUntypedClient({
      links: [
        splitLink({
          condition: ({ type }) => type === 'subscription',
          true: wsLink({ client: socket }),
          false: httpBatchLink({ url: `http://${host}/trpc`, headers, methodOverride: 'POST' }),
        }),
      ],
    });
    expect(await client.query('me')).toEqual({ name: 'Ada', ip: expect.stringContaining('127.0.0.1') });
    await expect(client.mutation('send', { text: '' })).rejects.toMatchObject({
      data: { code: 'BAD_REQUEST' },
    });
    const response = await fetch(`http://${host}/trpc/me`, { headers });
    expect(response.headers.get('cache-control')).toBe('private, max-age=60');
    const events = await new Promise((resolve, reject) => {
      const received: unknown[] = [];
      client.subscription('count', undefined, {
        onData: (value: unknown) => received.push(value),
        onError: reject,
        onComplete: () => resolve(received),
      });
    });
    expect(events).toEqual(['Ada', 2]);
  },
);
