import { TRPCError } from '@trpc/server';
import type { RestMeta } from 'trpc-gateway/procedures';
import { z } from 'zod';

/** A procedure as public routers have it. */
export interface Shape {
  readonly openapi: RestMeta & { readonly method: string; readonly path: string };
  /** Its `.input()` calls, in order. */
  readonly inputs: readonly z.ZodType[];
  readonly output: z.ZodType;
  /** What it returns, or a function that throws. */
  readonly result: unknown;
  /** Whether a middleware requires an `Authorization`. */
  readonly isProtected?: boolean;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

const shape = (
  method: Method,
  path: `/${string}`,
  inputs: z.ZodType | readonly z.ZodType[],
  output: z.ZodType = z.unknown(),
  // A list, since `undefined` is a result too.
  ...results: readonly unknown[]
): Shape => ({
  openapi: { method, path },
  inputs: [inputs].flat(),
  output,
  result: results.length > 0 ? results[0] : { id: 1 },
});

/** A shape that strict conversion cannot serve, which stays as it is without the preset too. */
const lenient = (each: Shape): Shape => ({
  ...each,
  openapi: { ...each.openapi, compatibility: 'trpc-to-openapi-express' },
});

const date = new Date('2026-01-02T03:04:05.678Z');

/** As in karakeep-app/karakeep: shared schemas with intersections, refinements and whole inputs with a default. */
function bookmarks(): Readonly<Record<string, Shape>> {
  const url = () => z.url().refine((text) => text.startsWith('http'), { message: 'Only http and https' });
  const Bookmark = z.object({
    id: z.string(),
    createdAt: z.date(),
    modifiedAt: z.date().nullable(),
    title: z.string().nullish(),
    content: z.discriminatedUnion('type', [
      z.object({ type: z.literal('link'), url: z.string(), crawledAt: z.date().nullish() }),
      z.object({ type: z.literal('text'), text: z.string() }),
    ]),
  });
  const link = { type: 'link', url: 'https://a.example', crawledAt: date };
  const saved = { id: 'a', createdAt: date, modifiedAt: null, content: link, isSecret: true };
  interface Rule {
    readonly type: string;
    readonly weight: number;
    readonly any?: readonly Rule[] | undefined;
  }
  const rule: z.ZodType<Rule> = z.object({
    type: z.string(),
    weight: z.number(),
    get any() {
      return z.array(rule).optional();
    },
  });
  const sort = z.object({ sortBy: z.enum(['name', 'usage']).default('usage'), limit: z.int().optional() });
  return {
    create: shape(
      'POST',
      '/bookmarks',
      z.object({
        archived: z.boolean().optional(),
        bookmark: z.intersection(
          z.object({ title: z.string().max(1000).nullish(), favourited: z.boolean().optional() }),
          z.discriminatedUnion('type', [
            z.object({ type: z.literal('link'), url: url(), priority: z.number().optional() }),
            z.object({ type: z.literal('text'), text: z.string() }),
          ]),
        ),
      }),
      Bookmark,
      saved,
    ),
    listTags: shape('POST', '/tags/list', sort.optional().default({ sortBy: 'usage' })),
    createRule: shape(
      'POST',
      '/rules',
      z.object({ name: z.string(), enabled: z.boolean(), condition: rule }),
    ),
    createFeed: shape('POST', '/feeds', z.object({ url: z.url().max(500), enabled: z.boolean().optional() })),
  };
}

/** As in blinkospace/blinko: a REST API whose lists are mutations, with unions that have null, and optional defaults. */
function notes(): Readonly<Record<string, Shape>> {
  return {
    list: shape(
      'POST',
      '/v1/note/list',
      z.object({
        tagId: z.union([z.number(), z.null()]).default(null),
        page: z.number().default(1),
        type: z.union([z.enum({ Blinko: 0, Note: 1 }), z.literal(-1)]).default(-1),
        isArchived: z.union([z.boolean(), z.null()]).default(false).optional(),
        isRecycle: z.boolean().default(false).optional(),
        searchText: z.string().default('').optional(),
        startDate: z.union([z.date(), z.null(), z.string()]).default(null).optional(),
      }),
    ),
    dailyReview: shape('GET', '/v1/note/daily-review-list', z.void(), z.array(z.unknown()), []),
    remove: {
      ...shape('DELETE', '/v1/user/{id}', z.object({ id: z.number() }), z.boolean(), true),
      isProtected: true,
    },
  };
}

/** Each conversion of trpc-to-openapi, in each place. */
function conversions(): Readonly<Record<string, Shape>> {
  const number = z.number().optional();
  const scalars = () => ({
    n: z.number().optional(),
    int: z.int().min(0).nullish(),
    b: z.boolean().optional(),
    big: z.bigint().optional(),
    date: z.date().nullable().optional(),
    withDefault: z.number().default(7),
    lazy: z.lazy(() => number),
    list: z.array(z.number()).optional(),
    texts: z.array(z.string()).optional(),
    text: z.string().optional(),
    literal: z.literal('5').optional(),
    doubled: z
      .string()
      .transform((value) => value + value)
      .optional(),
    preprocessed: z.preprocess((value) => value, z.string().optional()),
  });
  return {
    query: lenient(shape('GET', '/scalars', z.object(scalars()))),
    body: lenient(shape('POST', '/scalars', z.object(scalars()))),
    path: lenient(shape('DELETE', '/scalars/{n}', z.object({ ...scalars(), n: z.number() }))),
    required: shape('GET', '/required', z.object({ b: z.boolean(), n: z.number(), date: z.date() })),
    int: shape('PUT', '/int/{id}', z.object({ id: z.int(), b: z.boolean() })),
    deep: shape(
      'POST',
      '/deep',
      z.object({
        nested: z.object({
          n: z.number(),
          b: z.boolean(),
          more: z.object({ date: z.date().optional() }).optional(),
        }),
        list: z.array(z.object({ n: z.number().prefault(3) })).optional(),
        union: z.union([z.number(), z.boolean(), z.null()]).optional(),
        dateOrText: z.union([z.date(), z.string()]).optional(),
        record: z.record(z.string(), z.number()).optional(),
        both: z.intersection(z.object({ n: z.number() }), z.object({ m: z.number() })).optional(),
        piped: z
          .number()
          .transform((value) => value + 1)
          .optional(),
        readonly: z.number().readonly().optional(),
        caught: z.number().catch(9),
      }),
    ),
    optional: shape('POST', '/optional', z.object({ n: z.number().optional() }).nullish()),
    whole: shape(
      'POST',
      '/whole',
      z.object({ n: z.number() }).transform((value) => ({ ...value, isWhole: true })),
    ),
    chained: shape(
      'GET',
      '/chained/{a}/{b}',
      [z.object({ a: z.string() }), z.object({ b: z.cuid2() })],
      z.object({ id: z.string() }).nullable(),
      null,
    ),
    nullable: shape(
      'PATCH',
      '/nullable/{id}',
      z.object({ id: z.string(), n: z.number().nullish(), date: z.date().nullish() }),
    ),
    nothing: shape('PATCH', '/nothing/{id}', z.object({ id: z.string() }), z.void(), undefined),
    looseBody: shape('POST', '/loose/{id}', z.looseObject({ id: z.string() }), z.string(), 'ok'),
    loose: shape('GET', '/loose', z.looseObject({ n: z.number().optional() })),
    pathList: lenient(
      shape(
        'GET',
        '/path/{list}/{text}',
        z.object({ list: z.array(z.string()), text: z.string().default('') }),
      ),
    ),
    coerced: shape(
      'GET',
      '/project.coerced',
      z.object({ limit: z.coerce.number().min(1).default(20), since: z.coerce.date().optional() }),
    ),
    lists: shape(
      'GET',
      '/tag.find',
      z.object({
        tagIds: z.array(z.string()).default([]),
        colors: z.array(z.string()).nullable().optional(),
      }),
    ),
    strict: shape('GET', '/strict', z.strictObject({ n: z.number() })),
    find: shape('GET', '/pets/{id}', z.object({ id: z.string() }), z.string(), 'one'),
    mine: shape('GET', '/pets/mine', z.object({}), z.string(), 'mine'),
  };
}

/** An error of an application, which the error formatter of the router reads. */
export class AppError extends Error {
  readonly kind: string;
  constructor(kind: string) {
    super(`The document is ${kind}.`);
    this.kind = kind;
  }
}

/** As in documenso/documenso and others: what procedures throw. */
function failures(): Readonly<Record<string, Shape>> {
  const thrown: Readonly<Record<string, () => unknown>> = {
    expected: () => new TRPCError({ code: 'CONFLICT', message: 'Rex is taken.' }),
    caused: () => new TRPCError({ code: 'NOT_FOUND', message: 'Rex is gone.', cause: new Error('select 1') }),
    unnamed: () => new TRPCError({ code: 'BAD_GATEWAY', cause: new Error('select 1') }),
    plain: () => new Error('Your plan has expired.'),
    text: () => 'oops',
    app: () => new AppError('locked'),
    wrapped: () => new TRPCError({ code: 'FORBIDDEN', cause: new AppError('hidden') }),
    issues: () => new TRPCError({ code: 'BAD_REQUEST', cause: z.string().safeParse(5).error }),
    payment: () => new TRPCError({ code: 'PAYMENT_REQUIRED', message: 'Pay first.' }),
  };
  const shapes = Object.entries(thrown).map(([name, error]) => {
    const fail = () => {
      throw error();
    };
    return [name, shape('POST', `/fail/${name}`, z.object({ id: z.number() }), z.object({}), fail)] as const;
  });
  const invalid = z.object({ id: z.string(), at: z.date() });
  return { ...Object.fromEntries(shapes), output: shape('GET', '/fail/output', z.object({}), invalid, {}) };
}

/** Creates the routers' shapes, by the names of the router and of the procedure. */
export const createShapes = () => ({
  bookmarks: bookmarks(),
  notes: notes(),
  conversions: conversions(),
  failures: failures(),
});
