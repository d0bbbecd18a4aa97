import { initTRPC } from '@trpc/server';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createGateway } from '../gateway.ts';
import { migrationReport, type ProcedureReport } from './migrationReport.ts';
import type { GatewayMeta, RestMeta } from '../procedures/meta.ts';
import { trpcToOpenApi } from './trpcToOpenApi.ts';

const t = initTRPC.meta<GatewayMeta>().create({ isDev: false });
const signedIn = t.procedure.use(({ next }) => next());

/** The report of one procedure, which signed-in users call. */
async function reportOf(
  openapi: RestMeta | undefined,
  input: z.ZodType,
  output: z.ZodType = z.string(),
): Promise<ProcedureReport | undefined> {
  const base = (openapi ? signedIn.meta({ openapi }) : signedIn).input(input as z.ZodObject).output(output);
  const a = openapi?.method === 'GET' ? base.query(() => 'a') : base.mutation(() => 'a');
  const [report] = await migrationReport(t.router({ a, b: t.procedure.query(() => 1) }));
  return report;
}

const get: RestMeta = { method: 'GET', path: '/a', operationId: 'a' };
const post: RestMeta = { method: 'POST', path: '/a', operationId: 'a' };

it('migrationReport names the operation and its id, which changes only without the preset', async () => {
  const router = t.router({
    books: t.router({
      find: signedIn
        .meta({ openapi: { method: 'GET', path: '/books/{id}' } })
        .input(z.object({ id: z.string() }))
        .query(() => 1),
    }),
  });
  expect(await migrationReport(router)).toEqual([
    {
      procedure: 'books.find',
      operation: 'GET /books/{id}',
      always: [],
      withoutPreset: ['operationId books.find, not books-find'],
      withAuthentication: [],
    },
  ]);
});

interface Node {
  readonly size: number;
  readonly next?: Node | undefined;
}
const node: z.ZodType<Node> = z.object({
  size: z.number(),
  get next() {
    return node.optional();
  },
});

const convertible = z.object({
  limit: z.int().default(5),
  done: z.boolean().nullish(),
  at: z.date(),
  list: z.array(z.object({ n: z.number() })),
  either: z.union([z.number(), z.string()]),
  kind: z.literal([1, 2]),
});
const defaulted = z.object({ a: z.string().default('b') }).optional();
const ambiguous = z.object({ q: z.union([z.string(), z.number()]) });

it.each<[what: string, openapi: RestMeta, input: z.ZodType, output: z.ZodType, changes: readonly unknown[]]>([
  ['texts', post, z.object({ title: z.string(), kind: z.enum(['a']) }), z.string(), []],
  [
    'values that text can become',
    post,
    convertible,
    z.string(),
    ['strict: limit (integer), done (boolean), at (date), list[].n (number)'],
  ],
  ['a schema that contains itself', post, node, z.string(), ['strict: size (number)']],
  ['no output', post, z.object({}), z.void(), ['status 204, not 200']],
  ['an optional input', get, defaulted, z.string(), ['an absent input is undefined or its default, not {}']],
  ['an ambiguous query', get, ambiguous, z.string(), [expect.stringMatching(/^cannot .*"q" is a union/)]],
])(
  'migrationReport lists what changes without the preset for %s',
  async (_what, openapi, input, output, changes) => {
    const report = await reportOf(openapi, input, output);
    expect(report).toMatchObject({ always: [], withoutPreset: changes });
  },
);

it.each<[what: string, openapi: RestMeta, input: z.ZodType, change: RegExp]>([
  [
    'an upload',
    post,
    z.object({ file: z.file() }),
    /^cannot be served: .*"file" is a file.* contentTypes: \["multipart\/form-data"\]/,
  ],
  [
    'a form',
    post,
    z.instanceof(FormData),
    /^cannot be served: .* is a FormData, .* add contentTypes: \["multipart\/form-data"\]\.$/,
  ],
])('migrationReport lists what changes in any case for %s', async (_what, openapi, input, change) => {
  const report = await reportOf(openapi, input);
  expect(report?.always).toEqual([expect.stringMatching(change)]);
});

it('migrationReport names a mutation by GET, and its fix', async () => {
  const save = signedIn.meta({ openapi: get }).mutation(() => 1);
  expect(await migrationReport(t.router({ save }))).toMatchObject([
    { operation: undefined, always: [expect.stringMatching(/unsafe: true if its clients cannot change\.$/)] },
  ]);
});

it.each<[what: string, router: ReturnType<typeof t.router>, names: readonly string[]]>([
  [
    'without middlewares',
    t.router({
      open: t.procedure.query(() => 1),
      declared: t.procedure.meta({ protect: false }).query(() => 1),
      checked: signedIn.query(() => 1),
    }),
    ['open'],
  ],
  [
    'with the middlewares that all procedures run, while others run more',
    t.router({
      logged: signedIn.query(() => 1),
      checked: signedIn.use(({ next }) => next()).query(() => 1),
    }),
    ['logged'],
  ],
  ['which all run the same', t.router({ one: signedIn.query(() => 1), two: signedIn.query(() => 1) }), []],
])('migrationReport lists procedures %s as possibly public', async (_what, router, names) => {
  const report = await migrationReport(router);
  const found = report.filter(({ withAuthentication }) => withAuthentication.length > 0);
  expect(found.map(({ procedure }) => procedure)).toEqual(names);
});

it('a procedure without metadata has no operation', async () => {
  const report = await reportOf(undefined, z.object({ n: z.number() }));
  expect(report).toMatchObject({ operation: undefined, always: [], withoutPreset: [] });
});

it('migrationReport and createGateway reject the same procedures for the same reasons', async () => {
  const byId = (path: `/${string}`, name: string) =>
    signedIn
      .meta({ openapi: { method: 'GET', path } })
      .input(z.object({ [name]: z.string() }))
      .query(() => 1);
  const router = t.router({
    misspelt: signedIn.meta({ openapi: { method: 'GET', path: '/m', tags: 'x' as never } }).query(() => 1),
    byId: byId('/books/{id}', 'id'),
    bySlug: byId('/books/{slug}', 'slug'),
    other: signedIn
      .meta({ openapi: { method: 'GET', path: '/a' } })
      .output(z.map(z.string(), z.string()))
      .query(() => new Map()),
    beside: byId('/a-{id}/b', 'id'),
    ambiguous: byId('/{id}.b/b', 'id'),
  });
  const report = await migrationReport(router);
  const reasons = report.flatMap(({ procedure, always }) =>
    always.map((line) => `${procedure} ${line.replace('cannot be served: ', '')}`),
  );
  const error: unknown = await createGateway({
    ...trpcToOpenApi({ title: 'Books', version: '1' }),
    router,
    createContext: () => ({}),
  }).catch((cause: unknown) => cause);
  const lines = (error as Error).message
    .split('\n')
    .map((line) => line.replace(/^Procedure "(.*?)"(?: cannot be served over REST)?: /, '$1 '));
  expect(reasons).toEqual(lines);
  expect(report.map(({ procedure }) => procedure)).toEqual(Object.keys(router._def.procedures));
  expect(report.filter(({ always }) => always.length > 0).map(({ procedure }) => procedure)).toEqual([
    'misspelt',
    'bySlug',
    'other',
    'ambiguous',
  ]);
});
