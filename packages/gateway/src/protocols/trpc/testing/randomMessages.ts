import { initTRPC, lazy, tracked, TRPCError, type AnyTRPCRouter } from '@trpc/server';
import { observable } from '@trpc/server/observable';
import fc from 'fast-check';
import { z } from 'zod';

/** Random messages of a client on a WebSocket. */
export interface SocketPlan {
  readonly hasTransformer: boolean;
  readonly steps: readonly Step[];
}

export interface Step {
  readonly message: Message;
  /** The pause before the next message: none (same packet), a turn of the event loop, or until all work is done. */
  readonly pause: 'none' | 'turn' | 'quiet';
}

export type Message =
  | { readonly kind: 'calls'; readonly calls: readonly Call[]; readonly isBatch: boolean }
  | { readonly kind: 'text'; readonly text: string; readonly isBinary: boolean };

interface Call {
  readonly id: unknown;
  readonly jsonrpc: unknown;
  readonly method: unknown;
  readonly path: unknown;
  readonly input: unknown;
  readonly lastEventId: unknown;
}

/** A transformer that rejects inputs that are not wrapped, and throws for some errors. */
const transformer = {
  serialize(value: unknown) {
    if ((value as { readonly message?: unknown } | undefined)?.message === 'Unserializable')
      throw new Error('Cannot be serialized');
    return { wrapped: value };
  },
  deserialize(value: unknown) {
    if (typeof value !== 'object' || value === null || !('wrapped' in value)) throw new Error('Not wrapped');
    return value.wrapped;
  },
};

/** Builds the router of both servers. */
export function routerOf({ hasTransformer }: Pick<SocketPlan, 'hasTransformer'>): AnyTRPCRouter {
  const t = initTRPC.create({
    isDev: false,
    ...(hasTransformer && { transformer }),
    errorFormatter({ shape, error, path, type, input, ctx }) {
      if (error.message === 'Unformattable') throw new Error('The formatter failed');
      return { ...shape, data: { ...shape.data, received: { path, type, input, ctx } } };
    },
  });
  const { procedure } = t;
  const throwConflict = (text: string) => {
    throw new TRPCError({ code: 'CONFLICT', message: text });
  };
  const slow = procedure.use(async ({ next }) => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    return next();
  });
  return t.router({
    context: procedure.query(({ ctx }) => ctx),
    checked: procedure.input(z.object({ a: z.number() })).query(({ input }) => input),
    checkedLater: slow.input(z.object({ b: z.string() })).mutation(async ({ input }) => input),
    lastEvent: slow.input(z.unknown()).subscription(async function* ({ input }) {
      yield input;
    }),
    later: lazy(async () => ({ default: t.router({ hello: procedure.query(() => 'loaded') }) })),
    ready: procedure.query(() => 'ready'),
    nothing: procedure.mutation(() => undefined),
    keyed: procedure.query(() => ({ toJSON: (key: string) => `as ${key}` })),
    iterable: procedure.query(async function* () {
      yield 1;
    }),
    observed: procedure.mutation(() => observable(() => () => {})),
    bigint: procedure.query(() => 1n),
    unformattable: procedure.query(() => throwConflict('Unformattable')),
    unserializable: procedure.query(async () => throwConflict('Unserializable')),
    count: procedure.subscription(async function* () {
      yield 1;
      yield 2;
    }),
    silent: procedure.subscription(async function* ({ signal }) {
      await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      yield 1;
    }),
    failing: procedure.subscription(async function* () {
      yield 1;
      throwConflict('After the first');
    }),
    unserializableEvents: procedure.subscription(async function* () {
      yield 1;
      throwConflict('Unserializable');
    }),
    bigintEvents: procedure.subscription(async function* () {
      yield 1n as unknown as number;
    }),
    trackedEvents: procedure.subscription(async function* () {
      yield tracked('a', 1);
      yield 2;
    }),
    noEvents: procedure.subscription((() => 5) as never),
    observedEvents: procedure.subscription(() =>
      observable<number>((observer) => {
        observer.next(1);
        observer.complete();
      }),
    ),
    observedFailure: procedure.subscription(() =>
      observable<number>((observer) => {
        observer.next(1);
        observer.error(new TRPCError({ code: 'CONFLICT', message: 'Observed' }));
      }),
    ),
    stoppedEarly: procedure.subscription(async ({ signal }) => {
      await new Promise((_resolve, reject) =>
        signal?.addEventListener('abort', () => reject(signal.reason as Error)),
      );
      return observable<number>(() => () => {});
    }),
  });
}

const maxCalls = 5;

const oftenOf = (usual: readonly unknown[], rare: readonly unknown[]) =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: fc.constantFrom(...rare) },
  );

const call: fc.Arbitrary<Call> = fc.record({
  id: oftenOf([1, 2, 3, 'a', -0, 1.5], [null, undefined, true, {}, 1e300]),
  jsonrpc: oftenOf([undefined, '2.0'], ['1.0', null, 2]),
  path: oftenOf(
    [...Object.keys(routerOf({ hasTransformer: false })._def.procedures), 'later.hello'],
    ['nope', '__proto__', 'toString', '', 5, undefined],
  ),
  // `own`: the type of the procedure.
  method: oftenOf(['own'], ['query', 'mutation', 'subscription', 'call', undefined]),
  input: oftenOf(
    [
      { a: 1, b: 'b', more: [1] },
      { a: 1, b: 'b' },
    ],
    [undefined, null, {}, 'text', [1], { a: 'wrong' }, { __proto__: null, toJSON: 1 }],
  ),
  lastEventId: fc.oneof(
    { weight: 20, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom('7', null, 7) },
  ),
});

const stop: fc.Arbitrary<Call> = fc.constantFrom(1, 2, 3, 'a').map((id) => ({
  id,
  jsonrpc: undefined,
  method: 'subscription.stop',
  path: 'count',
  input: undefined,
  lastEventId: undefined,
}));

const callOrStop = fc.oneof({ weight: 12, arbitrary: call }, { weight: 1, arbitrary: stop });

const messageOf =
  (isBatch: boolean) =>
  (calls: readonly Call[]): Message => ({ kind: 'calls', calls, isBatch });
const anyMessage: fc.Arbitrary<Message> = fc.oneof(
  { weight: 8, arbitrary: callOrStop.map((one) => [one]).map(messageOf(false)) },
  { weight: 5, arbitrary: fc.array(callOrStop, { maxLength: maxCalls }).map(messageOf(true)) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('text' as const),
      text: fc.constantFrom(
        '',
        '{',
        'null',
        '5',
        '"text"',
        '[[]]',
        '[null]',
        '{}',
        'PING',
        'PONG',
        '{"id":1}',
        '{"id":1,"method":"query"}',
        '{"id":1,"method":"query","params":[]}',
        '{"id":1e999,"method":"query","params":{"path":"ready"}}',
        ' {"params":{"path":"ready","path":"nothing"},"id":1,"id":2,"method":"query","more":{}} ',
      ),
      isBinary: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
    }),
  },
);

export const socketPlan: fc.Arbitrary<SocketPlan> = fc.record({
  hasTransformer: fc.integer({ min: 0, max: 3 }).map((number) => number === 0),
  steps: fc.array(fc.record({ message: anyMessage, pause: fc.constantFrom('none', 'turn', 'quiet') }), {
    minLength: 1,
    maxLength: 8,
  }),
});

/** Encodes a message. */
export function bytesOf(message: Message, router: AnyTRPCRouter, hasTransformer: boolean): Buffer {
  if (message.kind === 'text') return Buffer.from(message.text);
  const procedures = router._def.procedures as Readonly<
    Record<string, { readonly _def?: { readonly type: string } }>
  >;
  const parts = message.calls.map(({ id, jsonrpc, method, path, input, lastEventId }) => ({
    id,
    jsonrpc,
    method: method === 'own' ? (procedures[String(path)]?._def?.type ?? 'query') : method,
    params: {
      path,
      // With a transformer, null stays unwrapped, which is malformed.
      input: hasTransformer && input !== null ? { wrapped: input } : input,
      lastEventId,
    },
  }));
  return Buffer.from(JSON.stringify(message.isBatch ? parts : parts[0]));
}
