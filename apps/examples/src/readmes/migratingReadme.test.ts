import { createTRPCUntypedClient, createWSClient, httpBatchLink, splitLink, wsLink } from '@trpc/client';
import { freePort } from '@petstore/testing/freePort';
import { expect, onTestFinished, test } from 'vitest';
import { newSnippets, readReadme } from './readme.ts';

type Files = Readonly<Record<string, string>>;

const books: Files = {
  'books.ts': `
    import { z } from 'zod';
    export const Book = z.object({ id: z.int(), title: z.string() });
    const books = [{ id: 1, title: 'Middlemarch' }];
    export const findBook = (id: number) => books.find((book) => book.id === id);
    export const addBook = (title: string, user: string | undefined) => ({ id: 2, title: \`\${title} of \${user}\` });
  `,
};
/** The apps of the pages in docs/migrating: the files that a page does not print, because they do not change. */
const apps = {
  'from-trpc-to-openapi': {
    'sessions.ts': `
      export const sessionOf = (token: string | undefined) =>
        token === 'token-of-ada' ? { name: 'Ada' } : undefined;
    `,
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
    'sessions.ts': `
      export const sessionOf = async (token: string | undefined) =>
        token === 'token-of-ada' ? { name: 'Ada' } : undefined;
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
  'from-trpc-openapi': {},
  'generated-metadata': {
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

type Side = 'before' | 'after';
const sides: readonly Side[] = ['before', 'after'];
/** The pages whose former packages are installed. */
const bothSides: readonly Page[] = ['from-trpc-to-openapi', 'from-trpc-adapters', 'generated-metadata'];

/** Returns the files of a page's app: those of its diffs, by the name in the first line, and those that do not change. */
async function filesOf(page: Page, side: Side): Promise<Files> {
  const { diffs } = await readReadme(`docs/migrating/${page}.md`);
  const printed = diffs.flatMap((diff) => {
    const [, name] = /^\/\/ (\w+\.ts)\n/.exec(diff[side]) ?? [];
    return name === undefined ? [] : [[name, diff[side]] as const];
  });
  return { ...apps[page], ...Object.fromEntries(printed) };
}

/** The line of the preset in an app. Options are added after it. */
const preset = /\.\.\.trpcToOpenApi\(.*\),/;

/** Returns the app of from-trpc-to-openapi with the options that the page prints as fragments. */
async function filesWithFragments(): Promise<Files> {
  const page = 'from-trpc-to-openapi';
  const [files, { blocks }] = await Promise.all([
    filesOf(page, 'after'),
    readReadme(`docs/migrating/${page}.md`),
  ]);
  const imports = `import { TRPCError } from '@trpc/server';\nimport { MissingNote } from './router.ts';\n`;
  const server = files['server.ts']?.replace(preset, `$&\n${blocks('ts').join('')}`);
  return { ...files, 'server.ts': `${imports}${server}` };
}

/** The app with the messages of unexpected errors, as in trpc-to-openapi, and without the gateway's lines on stderr. */
const withMessages = (files: Files): Files => ({
  ...files,
  'server.ts': (files['server.ts'] ?? '').replace(
    preset,
    '$&\nmaskUnexpectedErrors: false,\nonResponse() {},',
  ),
});

const inFolder = (folder: string, files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]));

/** Starts the server of an app on a free port. Resolves with its host. */
async function start(files: Files): Promise<string> {
  const [snippets, port] = await Promise.all([newSnippets(), freePort()]);
  const server = (files['server.ts'] ?? '').replaceAll('3000', String(port));
  await snippets.write({ ...files, 'server.ts': server });
  await snippets.start('server.ts', port);
  return `127.0.0.1:${port}`;
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
  const compiled = [
    ...bothSides.map((page) => ({ page, side: 'before' as const })),
    ...(Object.keys(apps) as Page[]).map((page) => ({ page, side: 'after' as const })),
  ];
  for (const { page, side } of compiled) await write(inFolder(`${page}-${side}`, await filesOf(page, side)));
  await write(inFolder('fragments', await filesWithFragments()));
  await expect(compile()).resolves.toBeUndefined();
});

const headers = { authorization: 'token-of-ada' };
const unchanged: Readonly<Record<'from-trpc-to-openapi' | 'generated-metadata', readonly Call[]>> = {
  'from-trpc-to-openapi': [
    { path: '/API/notes/?limit=%2B5', headers },
    { path: '/api/notes?limit=', headers },
    { path: '/api/notes?limit=x', headers },
    { path: '/api/notes' },
    { path: '/api/notes/10', headers },
    { path: '/trpc/notes.find?input=%7B%22id%22%3A7%7D', headers },
    { path: '/trpc/notes.find?input=%7B%22id%22%3A10%7D', headers },
  ],
  'generated-metadata': [
    { path: '/api/app.one?id=5' },
    { path: '/api/app.one?id=x' },
    { path: '/api/app.deploy', body: { id: 5 } },
  ],
};

test.for(Object.entries(unchanged))(
  'clients of the app of the page %s get the same responses after the migration',
  async ([name, calls]) => {
    const page = name as Page;
    const startSide = async (side: Side) => start(withMessages(await filesOf(page, side)));
    const [before, after] = await Promise.all([startSide('before'), startSide('after')]);
    for (const call of calls) {
      const [expected, response] = await Promise.all([send(before, call), send(after, call)]);
      expect({ call, ...response }).toEqual({ call, ...expected });
    }
  },
);

test('the options that the page from-trpc-to-openapi prints map errors, and run', async () => {
  const host = await start(await filesWithFragments());
  expect(await send(host, { path: '/api/notes?limit=%2B5', headers })).toMatchObject({ status: 200 });
  expect(await send(host, { path: '/api/notes/10', headers })).toMatchObject({
    status: 404,
    body: { code: 'NOT_FOUND', message: 'There is no such note.', isMissing: true },
  });
});

test('the app of the page generated-metadata serves no procedure that its metadata turns off', async () => {
  const host = await start(await filesOf('generated-metadata', 'after'));
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
          false: httpBatchLink({ url: `http://${host}/trpc`, headers }),
        }),
      ],
    });
    expect(await client.query('me')).toEqual({ name: 'Ada', ip: expect.stringContaining('127.0.0.1') });
    await expect(client.mutation('send', { text: '' })).rejects.toMatchObject({
      data: { code: 'BAD_REQUEST' },
    });
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

test('the app of the page from-trpc-openapi documents headers and examples', async () => {
  const host = await start(await filesOf('from-trpc-openapi', 'after'));
  expect(await send(host, { path: '/books/5' })).toMatchObject({ status: 200, body: { id: 5 } });
  const { body } = await send(host, { path: '/openapi.json' });
  expect(body).toMatchObject({
    paths: {
      '/books/{id}': {
        get: {
          operationId: 'find',
          parameters: [
            { in: 'path', name: 'id', schema: { examples: [1] } },
            { in: 'header', name: 'X-Tenant', required: true },
          ],
        },
      },
    },
  });
});

const type = 'application/json';
const user = { 'x-user': 'Ada' };
const found = { status: 200, type, body: { id: 1, title: 'Middlemarch' } };
const added = { status: 201, type, body: { id: 2, title: 'Emma of Ada' } };
const issue = { code: 'too_small', path: ['title'], minimum: 1 };

test('clients of the app of the page from-orpc receive oRPC’s bodies', async () => {
  const host = await start(await filesOf('from-orpc', 'after'));
  expect(await send(host, { path: '/api/books/1' })).toEqual(found);
  expect(await send(host, { path: '/api/books', body: { title: 'Emma' }, headers: user })).toEqual(added);
  expect(await send(host, { path: '/api/books/7' })).toMatchObject({
    status: 404,
    body: { defined: true, code: 'NO_SUCH_BOOK', status: 404, data: { id: 7 } },
  });
  expect(await send(host, { path: '/api/books', body: { title: '' } })).toMatchObject({
    status: 400,
    body: { defined: false, code: 'BAD_REQUEST', status: 400, data: { issues: [issue] } },
  });
});

test('clients of the app of the page from-ts-rest receive ts-rest’s bodies', async () => {
  const host = await start(await filesOf('from-ts-rest', 'after'));
  expect(await send(host, { path: '/api/books/1' })).toEqual(found);
  expect(await send(host, { path: '/api/books', body: { title: 'Emma' }, headers: user })).toEqual(added);
  expect(await send(host, { path: '/api/books/7' })).toEqual({
    status: 404,
    type,
    body: { message: 'No such book.' },
  });
  expect(await send(host, { path: '/api/books', body: { title: '' }, headers: user })).toMatchObject({
    status: 400,
    body: { name: 'ZodError', issues: [issue] },
  });
});
