import { setTimeout as sleep } from 'node:timers/promises';
import { initTRPC, tracked, TRPCError, type AnyTRPCRouter, type TRPCProcedureBuilder } from '@trpc/server';
import { observable } from '@trpc/server/observable';
import superjson from 'superjson';
import { z } from 'zod';
import { Random } from './random.ts';

/** The input of a random procedure. */
export interface RandomInput {
  /** Delay in milliseconds of a procedure that sleeps. */
  readonly ms: number;
  readonly text: string;
}

const Input = z.object({ ms: z.int(), text: z.string() });
const inputs = [
  undefined,
  undefined,
  Input,
  Input,
  Input.extend({ text: z.string().transform((text) => `${text}!`) }),
  Input.extend({ text: z.string().refine(async (text) => text !== 'rejected') }),
  Input.extend({ missing: z.string() }),
] as const;

const outputs = [
  undefined,
  undefined,
  undefined,
  undefined,
  undefined,
  z.unknown(),
  z.unknown().transform((value) => ({ transformed: typeof value })),
  z.unknown().transform(async (value) => value),
  z.literal('what no procedure gives'),
] as const;

class Thing {
  readonly later = Promise.resolve('not looked for in an instance of a class');
  readonly name = 'thing';
}

function rejected(): Promise<never> {
  const promise = Promise.reject(new TRPCError({ code: 'CONFLICT', message: 'On the way' }));
  // An output parser may drop this promise; avoid an unhandled rejection.
  promise.catch(() => {});
  return promise;
}

/** Awaited to let one microtask pass. */
const microtask = Promise.resolve();

/** Outputs that procedures return. */
const values: readonly (() => unknown)[] = [
  () => undefined,
  () => null,
  () => 0,
  () => 'text, ü 🐶 \u2028 \ud800 "\\ \0',
  () => [1, undefined, { a: [] }],
  () => ({ id: 1, name: 'Rex', nothing: undefined, deep: { er: [Number.NaN] } }),
  () => Object.create(null) as object,
  () => new Date(0),
  () => new Thing(),
  () => ({ toJSON: (key: string) => `under ${key}` }),
  () => ({ later: sleep(7, 'later'), now: 1 }),
  () => ({ here: Promise.resolve({ deeper: Promise.resolve('deepest') }) }),
  () => ({ broken: rejected() }),
  () => [Promise.resolve('not looked for in an array')],
  () => () => 'a function',
];
/** Values that procedures throw. */
const failures: readonly (() => unknown)[] = [
  () => new TRPCError({ code: 'NOT_FOUND', message: 'Not there' }),
  () => new Error('Broken'),
  () => 'no error',
  () => new TRPCError({ code: 'CONFLICT', message: 'Two', cause: new Error('The cause') }),
];
/** Streamed outputs. A batch has at most one of them: the order of two streams is undefined. */
const streams: readonly (() => unknown)[] = [
  async function* () {
    yield 1;
    yield { two: 2 };
    return 'the end';
  },
  async function* () {
    yield 1;
    throw new TRPCError({ code: 'CONFLICT', message: 'In the middle' });
  },
  () => ({
    all: (async function* () {
      yield undefined;
      await sleep(3);
    })(),
  }),
  () =>
    observable<number>((observer) => {
      observer.next(1);
      observer.complete();
    }),
];

/** Returns the resolver of a random procedure: it returns or throws one value, at once, after microtasks or a delay. */
function resolver(random: Random, outputValues: readonly (() => unknown)[]) {
  const isFailing = random.below(6) === 0;
  const value = random.pick(isFailing ? failures : outputValues);
  const turns = random.below(6);
  const settle = () => {
    if (isFailing) throw value();
    return value();
  };
  const later = async () => {
    for (let turn = 0; turn < turns; turn += 1) await microtask;
    return settle();
  };
  const delayed = async ({ input }: { input?: Partial<RandomInput> | undefined }) => {
    if (input?.ms === undefined) return later();
    await sleep(input.ms);
    return settle();
  };
  return random.pick<(options: { input?: Partial<RandomInput> | undefined }) => unknown>([
    settle,
    settle,
    later,
    delayed,
  ]);
}

/** A random router with the names of its procedures, by kind. */
export interface RandomRouter {
  readonly router: AnyTRPCRouter;
  readonly queries: readonly string[];
  readonly mutations: readonly string[];
  /** Queries with streamed outputs. */
  readonly streams: readonly string[];
  readonly subscriptions: readonly string[];
}

/** Creates a router of random procedures. The same seed creates the same router. */
export function createRandomRouter(seed: number, count: number, isTransformed: boolean): RandomRouter {
  const random = new Random(seed);
  const t = initTRPC.create({
    isDev: false,
    ...(isTransformed && { transformer: superjson }),
    errorFormatter: ({ shape, error, path, input }) => ({
      ...shape,
      data: { ...shape.data, path: path ?? 'none', input: input ?? null, cause: String(error.cause) },
    }),
  });
  const middlewares = [
    t.middleware(({ next }) => next()),
    t.middleware(async ({ next }) => {
      await microtask;
      return next({ ctx: { more: true } });
    }),
    t.middleware(async ({ next, getRawInput }) => {
      await getRawInput();
      const result = await next();
      await microtask;
      return result;
    }),
    t.middleware(({ next }) => {
      if (random.below(1) > 0) return next();
      throw new TRPCError({ code: 'FORBIDDEN', message: 'Not you' });
    }),
  ];
  // oxlint-disable-next-line typescript/no-explicit-any -- its type depends on the seed
  type Builder = TRPCProcedureBuilder<any, any, any, any, any, any, any, any>;
  const builder = (): Builder => {
    let procedure: Builder = t.procedure;
    for (let middleware = random.below(3); middleware > 0; middleware -= 1) {
      procedure = procedure.use(random.pick(random.below(6) === 0 ? middlewares : middlewares.slice(0, 3)));
    }
    const input = random.pick<z.ZodType | undefined>(inputs);
    if (input) procedure = procedure.input(input);
    const output = random.pick<z.ZodType | undefined>(outputs);
    return output ? procedure.output(output) : procedure;
  };
  const procedures: Record<string, unknown> = {};
  const names = (kind: string, make: () => unknown) =>
    Array.from({ length: count }, (_, index) => {
      procedures[`${kind}${index}`] = make();
      return `${kind}${index}`;
    });
  const queries = names('query', () => builder().query(resolver(random, values)));
  const mutations = names('mutation', () => builder().mutation(resolver(random, values)));
  const streamed = names('stream', () => builder().query(resolver(random, streams)));
  const subscriptions = names('subscription', () => builder().subscription(subscription(random)));
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  const router = t.router(procedures as any);
  return { router, queries, mutations, streams: streamed, subscriptions };
}

/** Returns a subscription resolver with random events, tracked or not, delayed or not, that completes or throws. */
function subscription(random: Random) {
  const events = Array.from({ length: random.below(6) }, () => ({
    value: random.pick([...values.slice(0, 10), () => 1n])(),
    id: random.below(3) === 0 ? `${random.below(9)}` : undefined,
    ms: random.below(4) === 0 ? 2 : undefined,
  }));
  const ending = random.below(4) === 0 ? random.pick(failures) : undefined;
  return async function* () {
    for (const { value, id, ms } of events) {
      if (ms !== undefined) await sleep(ms);
      yield id === undefined ? value : tracked(id, value);
    }
    if (ending) throw ending();
  };
}
