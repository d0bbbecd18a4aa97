import { runInNewContext } from 'node:vm';
import { initTRPC, type AnyTRPCProcedure } from '@trpc/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z325 } from 'zod-3.25/v4';
import { z as z40 } from 'zod-4.0';
import { z as z44 } from 'zod-4.4';
import { declareErrors, type GatewayMeta } from 'trpc-gateway/procedures';
import { generateTypes, type TypesOptions } from './generateTypes.ts';
import * as example from './testing/exampleRouter.ts';

const t = initTRPC.meta<GatewayMeta>().create();
const notCalled = (): never => {
  throw new Error('This router is for its types alone.');
};

/** A Standard Schema of another library. */
const otherSchema = {
  '~standard': { version: 1, vendor: 'other', validate: (value: unknown) => ({ value }) },
} as const;

const typesOf = (procedure: AnyTRPCProcedure) => generateTypes(t.router({ read: procedure }));
const outputOf = async (schema: z.ZodType) =>
  /read: QueryProcedure<void, (.*)>;/.exec(await typesOf(t.procedure.output(schema).query(notCalled)))?.[1];
const inputOf = async (schema: z.ZodType) =>
  /read: QueryProcedure<(.*), string>;/.exec(
    await typesOf(t.procedure.input(schema).output(z.string()).query(notCalled)),
  )?.[1];

describe('the types of a router', () => {
  it('generateTypes prints named types with doc comments from the metadata of schemas', async () => {
    expect(await generateTypes(example.bookRouter, { exports: example, errorShape: example.Problem })).toBe(
      `// Generated from the router by trpc-gateway-typegen. Do not edit.

import type { TRPCQueryProcedure, TRPCMutationProcedure, inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import type { TRPC_ERROR_CODE_NUMBER } from '@trpc/server/rpc';
import type { BuiltRouter as TRPCBuiltRouter } from '@trpc/server/unstable-core-do-not-import';

/** The type of the router, for clients: \`createTRPCClient<AppRouter>\`. */
export type AppRouter = TRPCBuiltRouter<
  { ctx: object; meta: object; errorShape: Problem; transformer: false },
  {
    books: {
      find: QueryProcedure<{ isbn: string }, Book | null>;
      add: MutationProcedure<BookInput, Book>;
    };
  }
>;

/** The inputs of the procedures, by name. */
export type RouterInputs = inferRouterInputs<AppRouter>;

/** The outputs of the procedures, by name. */
export type RouterOutputs = inferRouterOutputs<AppRouter>;

/** A book in print. */
export type Book = {
  /** ISBN-13, digits only. */
  isbn: string;
  /**
   * The title.
   * As on the cover.
   * @deprecated
   */
  title: string;
  format: 'print' | 'e-book';
};

/** A book in print. */
export type BookInput = {
  /** ISBN-13, digits only. */
  isbn: string;
  /**
   * The title.
   * As on the cover.
   * @deprecated
   */
  title: string;
  format?: 'print' | 'e-book' | undefined;
};

export type Problem = { message: string; code: TRPC_ERROR_CODE_NUMBER; data: { hint: string } };

type QueryProcedure<Input, Output> = TRPCQueryProcedure<{ input: Input; output: Output; meta: object; errorShape: unknown }>;
type MutationProcedure<Input, Output> = TRPCMutationProcedure<{ input: Input; output: Output; meta: object; errorShape: unknown }>;
`,
    );
  });

  it('a deprecated procedure has a doc comment with the date and the replacement', async () => {
    const router = t.router({
      list: t.procedure
        .meta({ openapi: { method: 'GET', path: '/things', description: 'All things.' } })
        .output(z.array(z.string()))
        .query(notCalled),
      old: t.procedure
        .meta({
          openapi: {
            method: 'GET',
            path: '/old',
            summary: 'Some things',
            deprecation: {
              since: new Date('2026-01-02'),
              sunset: new Date('2030-03-04'),
              successor: '/things',
            },
          },
        })
        .output(z.array(z.string()))
        .query(notCalled),
    });
    const text = await generateTypes(router);
    expect(text).toContain('    /** All things. */\n    list: ');
    expect(text).toContain(
      '    /**\n     * Some things\n     * @deprecated Since 2026-01-02, until 2030-03-04. Use list.\n     */\n    old: ',
    );
  });

  it.each<[wrapper: string, wrap: (schema: z.ZodType) => z.ZodType]>([
    ['optional', (schema) => schema.optional()],
    ['nullable', (schema) => schema.nullable()],
    ['default', (schema) => schema.default(1)],
    ['prefault', (schema) => z.prefault(schema, 1)],
    ['nonoptional', (schema) => z.nonoptional(schema)],
    ['catch', (schema) => schema.catch(1)],
    ['readonly', (schema) => schema.readonly()],
    ['preprocess', (schema) => z.preprocess(Number, schema)],
    ['preprocess and optional', (schema) => z.preprocess(Number, schema).optional()],
    [
      'preprocess, which is described itself,',
      ({ description }) => z.preprocess(Number, z.number()).meta({ description }),
    ],
    // Of the pipe's input, not of its output.
    ['pipe', ({ description }) => z.string().meta({ description }).pipe(z.transform(Number))],
  ])('a field has the doc comment of the schema that %s() wraps', async (_wrapper, wrap) => {
    const described = z.number().meta({ description: 'In millimetres.' });
    const input = z.object({ length: wrap(described), other: z.string() });
    const text = await typesOf(t.procedure.input(input).output(z.string()).query(notCalled));
    expect(text).toMatch(/\/\*\* In millimetres\. \*\/\n +length\??: /);
  });

  it.each([
    ['3.25', z325],
    ['4.0', z40],
    ['4.4', z44],
  ])('the types of schemas of zod %s are those of the newest, with their documentation', async (_, older) => {
    const schemaOf = (zod: typeof z) =>
      zod.object({
        id: zod.int().meta({ description: 'Its number.' }),
        at: zod.date().optional(),
        kinds: zod.array(zod.enum(['a', 'b'])).default([]),
        parts: zod.record(zod.string(), zod.union([zod.null(), zod.literal(1)])),
      });
    const typesWith = (zod: typeof z) => {
      const procedure = t.procedure.input(schemaOf(zod)).output(schemaOf(zod)).query(notCalled);
      const router = initTRPC.create({ errorFormatter: ({ shape }) => shape }).router({ read: procedure });
      return generateTypes(router, { errorShape: schemaOf(zod) });
    };
    expect(await typesWith(older as unknown as typeof z)).toBe(await typesWith(z));
  });

  it('generateTypes does not change the schemas', async () => {
    const schema = z.object({
      get self() {
        return schema.optional();
      },
    });
    const before = Object.keys(schema._zod.def);
    await outputOf(schema);
    expect(Object.keys(schema._zod.def)).toEqual(before);
    expect(z.globalRegistry.get(schema)).toBeUndefined();
  });

  it('a recursive schema without an id is named after its location', async () => {
    const tree = z.object({
      get children() {
        return z.array(tree);
      },
    });
    const text = await typesOf(t.procedure.output(z.object({ root: tree })).query(notCalled));
    expect(text).toContain('read: QueryProcedure<void, { root: ReadRoot }>;');
    expect(text).toContain('export type ReadRoot = { children: ReadRoot[] };');
  });

  it('an id that is not an identifier is converted to one', async () => {
    expect(await outputOf(z.object({}).meta({ id: 'shop/order-line' }))).toBe('ShopOrderLine');
  });
});

describe('types that do not exist at run time', () => {
  it.each([
    ['a brand', z.string().brand<'Id'>(), 'string'],
    ['a TypeScript enum of numbers', z.enum({ A: 0, B: 1, 0: 'A', 1: 'B' }), '0 | 1'],
    ['a TypeScript enum of strings', z.enum({ Red: 'red', Blue: 'blue' }), "'red' | 'blue'"],
    ['a refinement that narrows', z.string().refine((value): value is 'a' => value === 'a'), 'string'],
  ])('%s is printed as its base type', async (_, schema, expected) => {
    expect(await outputOf(schema)).toBe(expected);
    expect(await inputOf(schema)).toBe(expected);
  });
});

it('without a transformer, a date is printed as a string in an output, and as a Date in an input', async () => {
  const post = z.object({ at: z.date(), seen: z.array(z.date()).optional() });
  expect(await outputOf(post)).toBe('{ at: string; seen?: string[] }');
  expect(await inputOf(post)).toBe('{ at: Date; seen?: Date[] | undefined }');
});

describe('types that are not known at run time', () => {
  class Money {
    readonly cents = 0;
  }
  const output = (schema: z.ZodType) => t.procedure.output(schema).query(notCalled);
  const input = (schema: z.ZodType) => t.procedure.input(schema).output(z.void()).mutation(notCalled);
  it.each<[string, AnyTRPCProcedure, string]>([
    [
      'the output of a transform',
      output(z.object({ at: z.array(z.string().transform(Number)) })),
      'Procedure "read": the type of output.at[] cannot be printed: the output of a transform is not known at run time. Add .pipe(schema) after it.',
    ],
    [
      'a custom schema',
      input(z.object({ px: z.custom<`${number}px`>() })),
      `Procedure "read": the type of input.px cannot be printed: the type of a custom schema is not known at run time. Add .meta({ typescript: '…' }).`,
    ],
    [
      'a class that clients do not have',
      output(z.map(z.string(), z.instanceof(Money))),
      `Procedure "read": the type of output[] cannot be printed: clients do not have the class Money. Add .meta({ typescript: '…' }).`,
    ],
    [
      'a function',
      output(z.object({ call: z.function() })),
      `Procedure "read": the type of output.call cannot be printed: JSON has no functions. Add .meta({ typescript: '…' }).`,
    ],
    [
      'readonly of any',
      output(z.any().readonly()),
      'Procedure "read": the type of output cannot be printed: the result of .readonly() has no name. Remove .readonly().',
    ],
    [
      'readonly of an intersection with a set',
      input(
        z
          .set(z.string())
          .and(z.object({ a: z.string() }))
          .readonly(),
      ),
      'Procedure "read": the type of input cannot be printed: the result of .readonly() has no name. Remove .readonly().',
    ],
    [
      'an output without a schema',
      t.procedure.query(() => 'x'),
      'Procedure "read": the type of its output is not known at run time. Add an output schema: .output(…), or read it from the types: --infer-outputs, for routers without a transformer.',
    ],
    [
      'a subscription without a schema',
      t.procedure.subscription(async function* () {
        yield await Promise.resolve(1);
      }),
      `Procedure "read": the type of its events is not known at run time. Declare it in the metadata (openapi.event), or add .output(z.custom().meta({ typescript: 'AsyncIterable<…, void>' })).`,
    ],
    [
      'an input that is not a zod schema',
      t.procedure
        .input((value: unknown) => String(value))
        .output(z.string())
        .query(notCalled),
      'Procedure "read": the type of its input is not known: its parser is not a schema of zod 4 or zod/v4. Write it in zod/v4, or print it as unknown: --unknown read.',
    ],
    [
      'an output that is not a zod schema',
      t.procedure.output((value: unknown) => String(value)).query(notCalled),
      'Procedure "read": the type of its output is not known: its parser is not a schema of zod 4 or zod/v4. Write it in zod/v4, or print it as unknown: --unknown read.',
    ],
    [
      'an event that is not a zod schema',
      t.procedure
        .meta({ openapi: { method: 'GET', path: '/a', event: otherSchema } })
        .subscription(notCalled),
      'Procedure "read": the type of its events is not known: its parser is not a schema of zod 4 or zod/v4. Write it in zod/v4, or print it as unknown: --unknown read.',
    ],
    [
      'an error formatter',
      t.procedure
        .errors(({ shape }) => ({ ...shape, data: { hint: 'x' } }))
        .output(z.string())
        .query(notCalled),
      'Procedure "read": the shape of its errors is not known at run time. Declare them with .errors(declareErrors({ … })) of trpc-gateway/procedures.',
    ],
    [
      'an error that is declared twice',
      t.procedure
        .errors(declareErrors({ GONE: { status: 410 } }))
        .errors(declareErrors({ GONE: { status: 404 } }))
        .output(z.string())
        .query(notCalled),
      'Procedure "read" declares the error GONE twice, with different definitions. Rename one of them.',
    ],
    [
      'two schemas with the same id',
      t.procedure
        .input(z.object({ a: z.string() }).meta({ id: 'Twice' }))
        .output(z.object({ b: z.string() }).meta({ id: 'Twice' }))
        .query(notCalled),
      'Two schemas would both be the type Twice. Give one of them another id in its metadata.',
    ],
    [
      'an id with another meaning',
      output(z.object({ a: z.date() }).meta({ id: 'Date' })),
      'A schema would be the type Date, which already has another meaning. Give it another id in its metadata.',
    ],
  ])(
    '%s is rejected with a message that names the procedure, the field and the fix',
    async (_, procedure, message) => {
      await expect(typesOf(procedure)).rejects.toThrow(
        expect.objectContaining({ name: 'TypegenError', message }) as Error,
      );
    },
  );

  it('unknown prints unknown for what is not known of a procedure, and leaves out errors that are not declared', async () => {
    const read = t.procedure
      .errors(({ shape }) => ({ ...shape, data: { hint: 'x' } }))
      .input(z.object({ tree: z.object({ a: z.string() }).meta({ id: 'Tree' }), b: z.custom<'b'>() }))
      .output(z.string())
      .query(notCalled);
    const text = await generateTypes(t.router({ read }), { unknown: ['read'] });
    expect(text).toContain('read: QueryProcedure<unknown, string>;');
    expect(text).not.toContain('Tree');
  });

  it('a router with the errorFormatter of another copy of tRPC, as CommonJS has, has the shape of tRPC', async () => {
    const { errorFormatter } = initTRPC.create()._config;
    // Another function of the same text.
    const copy = runInNewContext(`(${String(errorFormatter)})`) as typeof errorFormatter;
    const typesWith = (options: object) => {
      const { procedure, router } = initTRPC.create(options);
      return generateTypes(router({ read: procedure.output(z.string()).query(notCalled) }));
    };
    expect(await typesWith({ errorFormatter: copy })).toBe(await typesWith({}));
  });
});

// The error shape may be a schema of any zod.
({ errorShape: z325.object({ a: z325.string() }) }) satisfies TypesOptions;
({ errorShape: z44.object({ a: z44.string() }) }) satisfies TypesOptions;
