import { initTRPC, lazy, tracked } from '@trpc/server';
import { octetInputParser } from '@trpc/server/http';
import { declareErrors, type GatewayMeta } from 'trpc-gateway/procedures';
import { z } from 'zod';

// A router with every kind of zod schema as an input and as an output, and every form of tRPC procedure. It is used for its
// types only and is never called.

const t = initTRPC.meta<GatewayMeta>().create();
const { router, procedure } = t;
const notCalled = (): never => {
  throw new Error('This router is for its types alone.');
};

/** Creates a query with the schema as input and output. */
const both = <S extends z.core.$ZodType>(schema: S) =>
  procedure.input(schema).output(schema).query(notCalled);
/** Creates a query with the schema as input. */
const inputOnly = <S extends z.core.$ZodType>(schema: S) =>
  procedure.input(schema).output(z.string()).query(notCalled);

const Size = z.enum(['s', 'm', 'l']).meta({ id: 'Size' });
const Point = z
  .object({ x: z.number(), y: z.number() })
  .meta({ id: 'Point', description: 'A point. */ Ends.' });
/** Has different input and output types: `SettingsInput` and `Settings`. */
const Settings = z
  .object({ theme: z.string().default('light'), at: Point, size: Size.optional() })
  .meta({ id: 'Settings' });
const Maybe = z.string().optional().meta({ id: 'Maybe' });
const Choice = z.union([Point, z.string()]).meta({ id: 'Choice' });
const List = z.array(Point).meta({ id: 'List' });
const Pair = z.tuple([z.string(), Point]).meta({ id: 'Pair' });

const Named = z
  .object({
    name: z.string(),
    get children() {
      return z.array(Named);
    },
  })
  .meta({ id: 'Named' });
const Unnamed = z.object({
  value: z.number().default(1),
  get next() {
    return Unnamed.optional();
  },
});
const User = z.object({
  email: z.email(),
  get posts() {
    return z.array(Post);
  },
});
const Post = z.object({
  title: z.string().optional(),
  get author() {
    return User.nullable();
  },
});
type Expression = number | { plus: [Expression, Expression] };
const Expression: z.ZodType<Expression, Expression> = z.lazy(() =>
  z.union([z.number(), z.object({ plus: z.tuple([Expression, Expression]) })]),
);

const primitives = router({
  string: both(z.string()),
  number: both(z.number()),
  boolean: both(z.boolean()),
  bigint: both(z.bigint()),
  int64: both(z.int64()),
  symbol: both(z.symbol()),
  undefined: both(z.undefined()),
  null: both(z.null()),
  any: both(z.any()),
  unknown: both(z.unknown()),
  never: both(z.never()),
  void: both(z.void()),
  date: both(z.date()),
  nan: both(z.nan()),
  file: both(z.file().max(5)),
  email: both(z.email()),
  refined: both(z.string().min(1).trim().refine(Boolean).superRefine(notCalled).toUpperCase()),
  coercedString: both(z.coerce.string()),
  coercedNumber: both(z.object({ n: z.coerce.number().optional() })),
  coercedBoolean: both(z.coerce.boolean().array()),
  coercedBigint: both(z.coerce.bigint()),
  coercedDate: both(z.coerce.date().nullable()),
});

const literals = router({
  quoted: both(z.literal(`it's a "test" \\ of\n\`\${text}\` \u2028`)),
  number: both(z.literal(-1.5)),
  large: both(z.literal(1e21)),
  negativeBigint: both(z.literal(-5n)),
  several: both(z.literal(['a', 1, 2n, false, null, undefined])),
  enum: both(Size),
  constObject: both(z.enum({ Red: 'red', One: 1 } as const)),
  template: both(z.templateLiteral(['id-', z.number(), '-', z.enum(['a', 'b'])])),
  templateOfAll: both(
    z.templateLiteral([
      '`${',
      z.string().optional(),
      null,
      undefined,
      5n,
      z.literal(['x', 1]),
      Size.nullable(),
    ]),
  ),
});

const collections = router({
  nestedArray: both(z.array(z.array(z.union([z.string(), z.null()])))),
  tuple: both(z.tuple([z.string(), z.number()])),
  emptyTuple: both(z.tuple([])),
  restTuple: both(z.tuple([z.string()], z.number().nullable())),
  optionalTuple: both(z.tuple([z.string(), z.number().optional(), z.boolean().default(true)])),
  middleOptionalTuple: both(z.tuple([z.string().optional(), z.number()])),
  exactTuple: both(z.tuple([z.string(), z.number().exactOptional()], z.string())),
  set: both(z.set(z.union([z.string(), z.number()]))),
  map: both(z.map(z.string(), Point)),
  enumRecord: both(z.record(Size, z.number().default(1))),
  numberRecord: both(z.record(z.number(), z.string())),
  partialRecord: both(z.partialRecord(Size, Point)),
  looseRecord: both(z.looseRecord(z.templateLiteral(['x-', z.string()]), z.number())),
  optionalValues: both(z.record(z.string(), z.number().optional())),
  literalRecord: both(z.record(z.literal(['a', 'b']), z.unknown())),
  unionKeys: both(z.record(z.union([Size, z.literal('xl')]), z.string())),
  coercedKeys: both(z.record(z.coerce.string(), z.string())),
});

const objects = router({
  keys: both(z.object({ a: z.string(), 'b-c': z.number(), 1: z.boolean(), "it's": z.null() })),
  named: both(z.object({ settings: Settings, other: Settings.nullable() })),
  dates: both(z.object({ at: z.date(), seen: z.array(z.date()).optional() }).meta({ id: 'Dated' })),
  optional: both(z.object({ a: z.string().optional(), b: z.number() })),
  exactOptional: both(z.object({ a: z.string().exactOptional(), b: z.number().optional() })),
  defaults: both(z.object({ a: z.string().default('x'), b: z.number().prefault(1), c: z.date().nullish() })),
  defaultOfOptional: both(z.object({ a: z.string().optional().default('x'), b: Maybe.default('y') })),
  prefaultOfOptional: both(z.object({ a: z.string().optional().prefault('x'), m: Maybe })),
  nonOptional: both(z.object({ a: z.string().optional().nonoptional(), b: Maybe.nonoptional() })),
  onlyUndefined: both(z.object({ a: z.undefined().optional(), b: z.string().optional() })),
  undefinedFields: both(
    z.object({ a: z.undefined(), b: z.any(), c: z.unknown(), d: z.void(), e: z.never() }),
  ),
  wrapped: both(z.object({ a: z.string().optional().nullable(), b: z.number().default(1).catch(2) })),
  readonlyField: both(z.object({ a: z.string().optional().readonly(), b: z.date().readonly() })),
  unionField: both(
    z.object({ a: z.union([z.string().optional(), z.number()]), b: z.string().or(z.undefined()) }),
  ),
  intersectedFields: both(
    z.object({
      both: z.string().optional().and(z.string().optional()),
      left: z.string().optional().and(z.string()),
      right: z.string().and(z.string().optional()),
    }),
  ),
  lazyField: both(z.object({ a: z.lazy(() => z.string().optional()), b: z.lazy(() => Point) })),
  strict: both(z.strictObject({ a: z.string() })),
  loose: both(z.looseObject({ a: z.string().optional() })),
  catchall: both(z.object({ a: z.string(), b: z.number().optional() }).catchall(z.number())),
  catchallDate: both(z.object({ a: z.string().optional() }).catchall(z.date())),
  datesBesideCatchall: both(z.object({ at: z.date() }).catchall(z.date())),
  catchallBesideOptional: both(
    z.union([
      z.object({ a: z.string() }).catchall(z.number()),
      z.tuple([z.object({ b: Settings.optional() })]),
    ]),
  ),
  emptyCatchallDate: both(z.object({}).catchall(z.date())),
  empty: both(z.object({})),
  emptyStrict: both(z.strictObject({})),
  emptyLoose: both(z.looseObject({})),
  emptyCatchall: both(z.object({}).catchall(z.string())),
  functions: both(z.object({ a: z.symbol(), b: z.string(), c: z.map(z.string(), z.date()), d: z.date() })),
});

const unions = router({
  union: both(z.union([z.string(), z.number(), z.object({ a: z.string() })])),
  nullable: both(z.string().nullable()),
  xor: both(z.xor([z.object({ a: z.string() }), z.object({ b: z.number() })])),
  withNever: both(z.union([z.string(), z.never()])),
  withUnknown: both(z.union([z.string(), z.unknown()])),
  withAny: both(z.object({ a: z.union([z.string(), z.unknown()]) })),
  withBoth: inputOnly(z.union([z.unknown(), z.string(), z.null()])),
  booleans: both(z.union([z.literal(true), z.literal(false), z.string()])),
  discriminated: both(
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a'), a: z.string().optional() }),
      z.object({ kind: z.literal(['b', 'c']), b: Point }),
    ]),
  ),
  and: both(Point.and(z.object({ a: z.string() })).and(z.record(z.string(), z.unknown()))),
  intersectedNames: both(z.object({ a: Settings.and(Point), b: z.string().optional() })),
  intersectedUnions: both(z.union([Point, z.null()]).and(z.union([z.object({ b: z.string() }), z.null()]))),
});

const wrappers = router({
  optional: both(z.string().optional()),
  exactOptional: both(z.string().exactOptional()),
  default: both(z.object({ a: z.number().default(1) }).default({ a: 1 })),
  prefault: both(z.object({ a: z.number().default(1) }).prefault({})),
  catch: both(z.number().catch(1)),
  success: both(z.success(z.number().optional())),
  nonOptional: both(z.union([z.string(), z.undefined()]).nonoptional()),
  readonlyArray: both(z.array(z.union([z.string(), z.number()])).readonly()),
  readonlyTuple: both(z.tuple([z.string(), z.number()], z.boolean()).readonly()),
  readonlyObject: both(z.object({ a: z.string(), b: z.object({ c: z.string() }).optional() }).readonly()),
  readonlyNamed: both(z.object({ at: Point.readonly(), of: List.readonly(), pair: Pair.readonly() })),
  readonlyChoice: both(Choice.readonly()),
  readonlyMap: both(z.map(z.string(), z.number()).readonly()),
  readonlySet: both(z.set(z.string()).readonly()),
  readonlyRecord: both(z.record(z.string(), z.number()).readonly()),
  readonlyEnumRecord: both(z.record(Size, z.number()).readonly()),
  readonlyBesideOptional: both(
    z.record(
      z.string(),
      z.object({ a: z.array(z.string()).readonly().optional(), b: z.string().optional() }),
    ),
  ),
  readonlyUnion: both(z.union([z.array(z.string()), z.null(), z.object({ a: z.date() })]).readonly()),
  readonlyIntersection: both(Point.and(z.object({ a: z.string() })).readonly()),
  readonlyCatchall: both(z.object({ a: z.string().optional() }).catchall(z.number()).readonly()),
  arrayOfReadonly: both(z.array(z.array(z.string()).readonly())),
  pipeOfTypes: both(z.string().transform(Number).pipe(z.number())),
  codec: both(z.codec(z.iso.datetime(), z.date(), { decode: notCalled, encode: notCalled })),
  stringBoolean: both(z.stringbool()),
  preprocess: both(z.object({ a: z.preprocess((value) => value, z.number().optional()) })),
  transform: inputOnly(z.string().transform((value) => value.length)),
  transformedField: inputOnly(z.object({ a: z.string().transform(Number).optional() })),
  promise: both(z.promise(z.string())),
  custom: both(z.custom<`${number}px`>().meta({ typescript: '`${number}px`' })),
  instance: both(z.instanceof(Uint8Array)),
  formData: both(z.instanceof(FormData)),
  url: both(z.object({ url: z.instanceof(URL) })),
  brandedInput: inputOnly(z.string().brand<'Id'>()),
});

const recursions = router({
  named: both(Named),
  unnamed: both(Unnamed),
  mutual: both(z.object({ user: User })),
  lazy: both(Expression),
  json: both(z.json()),
  jsonField: both(z.object({ data: z.json().optional() })),
});

const forms = router({
  noInput: procedure.output(z.string()).query(notCalled),
  noOutput: procedure.input(z.string()).output(z.void()).mutation(notCalled),
  twoInputs: procedure
    .input(z.object({ a: z.string() }))
    .input(z.object({ b: z.number().default(1) }))
    .output(z.string())
    .query(notCalled),
  overlappingInputs: procedure
    .input(z.object({ a: z.string(), b: z.string() }))
    .input(z.object({ b: z.string().optional(), c: z.date() }))
    .output(z.string())
    .query(notCalled),
  optionalInputs: procedure
    .input(z.object({ a: z.string() }).optional())
    .input(z.object({ b: z.number() }).optional())
    .output(z.string())
    .query(notCalled),
  threeInputs: procedure
    .input(Point)
    .input(z.looseObject({ c: z.string() }))
    .input(Settings)
    .output(Settings)
    .mutation(notCalled),
  errors: procedure
    .errors(
      declareErrors({
        OUT_OF_STOCK: {
          status: 409,
          data: z.object({ left: z.int(), at: Point, note: z.string().optional() }),
        },
        SHOP_CLOSED: { status: 423, message: 'Open from 9 to 5.' },
      }),
    )
    .output(z.string())
    .query(notCalled),
  chainedErrors: procedure
    .errors(declareErrors({ FIRST: { status: 400 } }))
    .errors(declareErrors({ SECOND: { status: 500, data: z.string() } }))
    .output(z.string())
    .mutation(notCalled),
  subscriptionErrors: procedure
    .meta({ openapi: { method: 'GET', path: '/errors', event: Point } })
    .errors(declareErrors({ ENDED: { status: 410 } }))
    .subscription(async function* () {
      yield await Promise.resolve({ x: 1, y: 2 });
    }),
  bytes: procedure.input(octetInputParser).output(z.string()).mutation(notCalled),
  events: procedure
    .input(z.object({ from: z.number() }))
    .meta({ openapi: { method: 'GET', path: '/events', event: Point } })
    .subscription(async function* () {
      yield await Promise.resolve({ x: 1, y: 2 });
    }),
  trackedEvents: procedure
    .input(z.object({ lastEventId: z.string().optional() }).optional())
    .meta({ openapi: { method: 'GET', path: '/tracked', event: Point } })
    .subscription(async function* () {
      yield await Promise.resolve(tracked('1', { x: 1, y: 2 }));
    }),
  statedEvents: procedure
    .output(
      z.custom<AsyncIterable<{ at: Date }, void>>().meta({ typescript: 'AsyncIterable<{ at: Date }, void>' }),
    )
    .subscription(notCalled),
});

const nested = {
  deep: router({ deeper: router({ query: both(z.string()), 'kebab-case': both(z.string()) }) }),
  record: { inner: both(z.number()) },
  late: lazy(() => Promise.resolve({ late: router({ query: both(Point) }) })),
};

const record = {
  primitives,
  literals,
  collections,
  objects,
  unions,
  wrappers,
  recursions,
  forms,
  ...nested,
};

/** Without a transformer: outputs are serialized as JSON. */
export const tortureRouter = router(record);
/** With a transformer: clients get the types of the outputs unchanged. */
export const transformedTortureRouter = initTRPC
  .create({ transformer: { serialize: (value: unknown) => value, deserialize: (value: unknown) => value } })
  .router(record);

/** The procedures with schemas of type `any`. */
export const anyProcedures: ReadonlySet<string> = new Set(['primitives.any']);
