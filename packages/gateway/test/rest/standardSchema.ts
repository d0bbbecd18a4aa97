import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { scope, type } from 'arktype';
import * as v from 'valibot';
import { z } from 'zod';

// Shapes with validators of Valibot and ArkType. Test titles name the GitHub threads that ask for them.

const t = initTRPC.meta<GatewayMeta>().create();

const echo = (input: unknown): unknown => JSON.parse(JSON.stringify(input ?? null));

const valibot = {
  input: toStandardJsonSchema(
    v.object({
      id: v.pipe(v.number(), v.integer()),
      filter: v.optional(v.object({ city: v.string(), range: v.optional(v.object({ min: v.number() })) })),
      isOld: v.optional(v.boolean()),
      sort: v.optional(v.picklist(['age', 'name'])),
      tags: v.optional(v.array(v.string())),
      weight: v.optional(v.pipe(v.number(), v.minValue(1))),
      tenant: v.optional(v.pipe(v.string(), v.minLength(2))),
    }),
  ),
  body: toStandardJsonSchema(
    v.strictObject({
      name: v.pipe(v.string(), v.minLength(1), v.description('What it is called.')),
      kind: v.nullable(v.picklist(['cat', 'dog'])),
      nested: v.optional(v.object({ n: v.number() })),
    }),
  ),
  output: toStandardJsonSchema(v.object({ id: v.number(), name: v.string() })),
  event: toStandardJsonSchema(v.object({ n: v.pipe(v.number(), v.integer()) })),
} as const;

const arktype = {
  input: type({
    id: 'number.integer',
    'tags?': 'string[]',
    'sort?': "'name' | 'age'",
    'isOld?': 'boolean',
    'weight?': 'number >= 1',
    'filter?': { city: 'string', 'range?': { min: 'number' } },
    'tenant?': 'string >= 2',
  }),
  body: type({
    '+': 'reject',
    name: type('string >= 1').describe('What it is called.', 'self'),
    kind: "'cat' | 'dog' | null",
    'nested?': { n: 'number' },
  }),
  output: type({ id: 'number', name: 'string' }),
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
      .mutation(({ input: { name } }) => ({ id: 1, name })),
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
    .input(
      toStandardJsonSchema(
        v.object({ id: v.pipe(v.number(), v.integer()), dryRun: v.optional(v.boolean()) }),
      ),
    )
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
    .input(toStandardJsonSchema(Tree))
    .output(Node)
    .mutation(({ input }) => ({ value: 1, next: { value: input.children.length } })),
  union: t.procedure
    .meta({ openapi: { method: 'POST', path: '/unions' } })
    .input(
      toStandardJsonSchema(
        v.variant('kind', [
          v.object({ kind: v.literal('a'), at: v.pipe(v.string(), v.isoTimestamp()) }),
          v.object({ kind: v.literal('b'), n: v.number() }),
        ]),
      ),
    )
    .output(z.unknown())
    .mutation(({ input }) => (input.kind === 'a' ? Date.parse(input.at) : input.n)),
  list: t.procedure
    .meta({ openapi: { method: 'POST', path: '/lists' } })
    .input(type({ n: 'number' }).array().atMostLength(2))
    .output(type('number'))
    .mutation(({ input }) => input[0]?.n ?? 0),
});

export const optional = t.router({
  list: t.procedure
    .meta({ openapi: { method: 'GET', path: '/pets' } })
    .input(toStandardJsonSchema(v.optional(v.object({ limit: v.optional(v.number()) }))))
    .output(z.unknown())
    .query(({ input }) => input ?? 'none'),
  remove: t.procedure
    .meta({ openapi: { method: 'DELETE', path: '/pets/{id}' } })
    .input(type({ id: 'string' }))
    .output(z.void())
    .mutation(() => undefined),
});

export const partlyDescribed = t.router({
  find: t.procedure
    .meta({ openapi: { method: 'GET', path: '/pets' } })
    .output(
      toStandardJsonSchema(v.object({ name: v.string(), size: v.pipe(v.string(), v.transform(Number)) })),
    )
    .query(() => ({ name: 'Tom', size: '5' as never })),
  site: t.procedure
    .meta({ openapi: { method: 'GET', path: '/site' } })
    .output(type({ site: 'URL' }))
    .query(() => ({ site: new URL('http://pets.example') })),
});
