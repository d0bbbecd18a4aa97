import { createTRPCUntypedClient, createWSClient, httpBatchLink, splitLink, wsLink } from '@trpc/client';
import { expect, onTestFinished, test } from 'vitest';
import { type Files, newSnippets, readReadme, type Side } from './readme.ts';

const sessions: Files = {
  'sessions.ts': `
    export const sessionOf = (token: string | undefined) =>
      token === 'token-of-ada' ? { name: 'Ada' } : undefined;
  `,
};
const trpcToOpenApiPage = await readReadme('docs/migrating/from-trpc-to-openapi.md');
/** The files of the apps that the pages in docs/migrating do not print, because they do not change. */
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
} satisfies Record<string, Files>;
type Page = keyof typeof apps;

const sides: readonly Side[] = ['before', 'after'];
/** Returns the files of a page's app: those of its diffs, and those that do not change. */
async function filesOf(page: Page, side: Side = 'after'): Promise<Files> {
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
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a GET. Resolves with what a client reads: the status, the media type and the body. */
async function send(host: string, { path, headers = {} }: Call) {
  const response = await fetch(`http://${host}${path}`, { headers });
  const text = await response.text();
  const value: unknown = text === '' ? undefined : JSON.parse(text);
  return { status: response.status, type: response.headers.get('content-type'), body: value };
}

const headers = { authorization: 'token-of-ada' };

test('clients of the app of the page from-trpc-to-openapi get the same responses after the migration', async () => {
  const calls: readonly Call[] = [
    { path: '/API/notes/?limit=%2B5', headers },
    { path: '/api/notes?limit=', headers },
    { path: '/api/notes?limit=x', headers },
    { path: '/api/notes' },
    { path: '/api/notes/10', headers },
    { path: '/trpc/notes.find?input=%7B%22id%22%3A7%7D', headers },
    { path: '/trpc/notes.find?input=%7B%22id%22%3A10%7D', headers },
  ];
  // The messages of unexpected errors as in trpc-to-openapi, and no lines of the gateway on stderr.
  const options = 'maskUnexpectedErrors: false,\nonResponse() {},';
  const hosts = sides.map(async (side) =>
    start(withOptions(await filesOf('from-trpc-to-openapi', side), options)),
  );
  const [before = '', after = ''] = await Promise.all(hosts);
  for (const call of calls) {
    expect({ call, ...(await send(after, call)) }).toEqual({ call, ...(await send(before, call)) });
  }
  const document = async (host: string) => (await fetch(`http://${host}/openapi.json`)).text();
  expect(await document(after)).toBe(await document(before));
});

test('the app of the page from-trpc-to-openapi maps errors by the options that the page prints', async () => {
  const host = await start(await filesWithFragments());
  expect(await send(host, { path: '/api/notes?limit=%2B5', headers })).toMatchObject({ status: 200 });
  const note = { code: 'NOT_FOUND', message: 'There is no such note.', isMissing: true };
  expect(await send(host, { path: '/api/notes/10', headers })).toMatchObject({ status: 404, body: note });
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
