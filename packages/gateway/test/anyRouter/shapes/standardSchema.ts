import type { GatewayMeta } from '@petstore/gateway/meta';
import { initTRPC } from '@trpc/server';
import { scope, type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';

// Shapes with validators of Valibot and ArkType. Test titles name the GitHub threads that ask for them.

export const t = initTRPC.meta<GatewayMeta>().create({ isDev: false });

const echo = (input: unknown): unknown => JSON.parse(JSON.stringify(input ?? null));

const valibot = {
  input: v.object({
    id: v.pipe(v.number(), v.integer()),
    bornAfter: v.optional(v.date()),
    filter: v.optional(v.object({ city: v.string(), range: v.optional(v.object({ min: v.number() })) })),
    isOld: v.optional(v.boolean()),
    sort: v.optional(v.picklist(['age', 'name'])),
    tags: v.optional(v.array(v.string())),
    weight: v.optional(v.pipe(v.number(), v.minValue(1))),
    tenant: v.optional(v.pipe(v.string(), v.minLength(2))),
  }),
  body: v.strictObject({
    name: v.pipe(v.string(), v.minLength(1), v.description('What it is called.')),
    kind: v.nullable(v.picklist(['cat', 'dog'])),
    born: v.date(),
    nested: v.optional(v.object({ n: v.number() })),
  }),
  output: v.object({ id: v.number(), name: v.string(), born: v.date() }),
  event: v.object({ n: v.pipe(v.number(), v.integer()) }),
} as const;

const arktype = {
  input: type({
    id: 'number.integer',
    'tags?': 'string[]',
    'sort?': "'name' | 'age'",
    'isOld?': 'boolean',
    'weight?': 'number >= 1',
    'bornAfter?': 'Date',
    'filter?': { city: 'string', 'range?': { min: 'number' } },
    'tenant?': 'string >= 2',
  }),
  body: type({
    '+': 'reject',
    name: type('string >= 1').describe('What it is called.', 'self'),
    kind: "'cat' | 'dog' | null",
    born: 'Date',
    'nested?': { n: 'number' },
  }),
  output: type({ id: 'number', name: 'string', born: 'Date' }),
  event: type({ n: 'number.integer' }),
} as const;

const petsOf = ({ body, event, input, output }: typeof valibot | typeof arktype) =>
  t.router({
    find: t.procedure
      .meta({ openapi: { method: 'GET', path: '/pets/{id}', in: { tenant: 'header' } } })
      .input(input as (typeof valibot)['input'])
      .output(z.unknown())
      .query(({ input: value }) => echo(value)),
    create: t.procedure
      .meta({ openapi: { method: 'POST', path: '/pets' } })
      .input(body as (typeof valibot)['body'])
      .output(output as (typeof valibot)['output'])
      .mutation(({ input: { name, born } }) => ({ id: 1, name, born })),
    watch: t.procedure
      .meta({ openapi: { method: 'GET', path: '/events', event } })
      .subscription(async function* () {
        yield { n: 1 };
        yield { n: 'two' };
      }),
  });

export const valibotPets = petsOf(valibot);
export const arktypePets = petsOf(arktype);

export const chained = t.router({
  rename: t.procedure
    .meta({ openapi: { method: 'POST', path: '/{owner}/pets/{id}', in: { dryRun: 'query' } } })
    .input(z.object({ owner: z.string().min(2) }))
    .input(v.object({ id: v.pipe(v.number(), v.integer()), dryRun: v.optional(v.boolean()) }))
    .input(type({ name: 'string > 0' }))
    .output(z.unknown())
    .mutation(({ input }) => input),
});

export const forms = t.router({
  sign: t.procedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/forms',
        contentTypes: ['application/x-www-form-urlencoded', 'application/json'],
      },
    })
    .input(type({ age: 'number.integer', 'tags?': 'string[]', terms: 'true' }))
    .output(z.unknown())
    .mutation(({ input }) => input),
  upload: t.procedure
    .meta({ openapi: { method: 'POST', path: '/files', contentTypes: ['multipart/form-data'] } })
    .input(v.object({ title: v.string(), photo: v.file(), more: v.optional(v.array(v.file())) }))
    .output(z.unknown())
    .mutation(({ input: { title, photo, more } }) => [title, photo.size, more?.length]),
});

interface Tree {
  readonly name: string;
  readonly children: readonly Tree[];
}
const Tree: v.GenericSchema<Tree> = v.object({ name: v.string(), children: v.array(v.lazy(() => Tree)) });
const { Node } = scope({ Node: { value: 'number', 'next?': 'Node' } }).export();

export const bodies = t.router({
  tree: t.procedure
    .meta({ openapi: { method: 'POST', path: '/trees' } })
    .input(Tree)
    .output(Node)
    .mutation(({ input }) => ({ value: 1, next: { value: input.children.length } })),
  union: t.procedure
    .meta({ openapi: { method: 'POST', path: '/unions' } })
    .input(
      v.variant('kind', [
        v.object({ kind: v.literal('a'), at: v.date() }),
        v.object({ kind: v.literal('b'), n: v.number() }),
      ]),
    )
    .output(z.unknown())
    .mutation(({ input }) => (input.kind === 'a' ? input.at.getTime() : input.n)),
  list: t.procedure
    .meta({ openapi: { method: 'POST', path: '/lists' } })
    .input(type({ at: 'Date' }).array().atMostLength(2))
    .output(type('number'))
    .mutation(({ input }) => input[0]?.at.getTime() ?? 0),
});

export const optional = t.router({
  list: t.procedure
    .meta({ openapi: { method: 'GET', path: '/pets' } })
    .input(v.optional(v.object({ limit: v.optional(v.number()) })))
    .output(z.unknown())
    .query(({ input }) => input ?? 'none'),
  remove: t.procedure
    .meta({ openapi: { method: 'DELETE', path: '/pets/{id}' } })
    .input(type({ id: 'string' }))
    .output(v.void())
    .mutation(() => undefined),
});

export const statusesOfLibraries = t.router({
  find: t.procedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/jobs',
        responses: { 200: type({ done: 'true' }), 202: v.object({ left: v.number() }) },
      },
    })
    .query(() => ({ done: true, left: 5 })),
});

export const partlyDescribed = t.router({
  find: t.procedure
    .meta({ openapi: { method: 'GET', path: '/pets' } })
    .output(v.object({ name: v.string(), size: v.pipe(v.string(), v.transform(Number)) }))
    .query(() => ({ name: 'Tom', size: '5' as never })),
  site: t.procedure
    .meta({ openapi: { method: 'GET', path: '/site' } })
    .output(type({ site: 'URL' }))
    .query(() => ({ site: new URL('http://pets.example') })),
});
