import type { AnyTRPCRouter } from '@trpc/server';
import fc from 'fast-check';
import { routerOf } from './comparedRouter.ts';

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

const maxCalls = 5;

const oftenOf = (usual: readonly unknown[], rare: readonly unknown[]) =>
  fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...usual) },
    { weight: 1, arbitrary: fc.constantFrom(...rare) },
  );

/** Procedures that set a timer, for which the comparison does not wait. */
const withTimers = new Set(['countSlowly', 'output', 'slow']);
const paths = [
  ...Object.keys(routerOf({})._def.procedures).filter((path) => !withTimers.has(path)),
  'lazily.hello',
];

const call: fc.Arbitrary<Call> = fc.record({
  id: oftenOf([1, 2, 3, 'a', -0, 1.5], [null, undefined, true, {}, 1e300]),
  jsonrpc: oftenOf([undefined, '2.0'], ['1.0', null, 2]),
  path: oftenOf(paths, ['nope', '__proto__', 'toString', '', 5, undefined]),
  // `own`: the type of the procedure.
  method: oftenOf(['own'], ['query', 'mutation', 'subscription', 'call', undefined]),
  input: oftenOf(
    [{ n: 1 }, 'fails'],
    [undefined, null, {}, 'unformattable', 'undecodable', [1], { __proto__: null, toJSON: 1 }],
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
        '5',
        '[[]]',
        '[null]',
        '{}',
        'PING',
        'PONG',
        '{"id":1}',
        '{"id":1,"method":"query"}',
        '{"id":1,"method":"query","params":[]}',
        '{"id":1e999,"method":"query","params":{"path":"hello"}}',
        ' {"params":{"path":"hello","path":"nothing"},"id":1,"id":2,"method":"query","more":{}} ',
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
      input: hasTransformer && input !== null ? { json: input } : input,
      lastEventId,
    },
  }));
  return Buffer.from(JSON.stringify(message.isBatch ? parts : parts[0]));
}
