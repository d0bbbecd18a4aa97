import { setTimeout as sleep } from 'node:timers/promises';
import { TRPCError } from '@trpc/server';
import { observable } from '@trpc/server/observable';

// Outputs that JSON lines send in parts, for the comparison with tRPC's own code.

const conflict = (message: string) => new TRPCError({ code: 'CONFLICT', message });
// oxlint-disable-next-line unicorn/no-thenable -- like a query builder
const resolving = { then: (resolve: (value: string) => void) => resolve('resolved') };

async function afterTurns(turns: number): Promise<void> {
  for (let at = 0; at < turns; at += 1) await Promise.resolve();
}

/** An iterable of values that ends with a result, an error or no result object. */
const iterable = (values: unknown[], end: 'return' | 'throw' | 'garbage') => ({
  [Symbol.asyncIterator]: () => ({
    next: async () => {
      if (values.length > 0) return { done: false, value: await values.shift() };
      if (end === 'throw') throw conflict('in the middle');
      return end === 'garbage' ? undefined : { done: true, value: 'the end' };
    },
  }),
});

/** A promise whose rejection is handled, since one in an array is never awaited. */
function handled<Result>(promise: Promise<Result>): Promise<Result> {
  promise.catch(() => {});
  return promise;
}

const values: readonly unknown[] = [
  1,
  undefined,
  new Date(5),
  Number.NaN,
  'ü 🐶 \u2028 ["a",0,1]]]',
  () => 1,
  { toJSON: (key: string) => `key ${key}` },
  Object.create(null),
  [undefined],
  { constructor: undefined, in: 'name' },
  // Counts as a promise, as a thing with `then` alone does not.
  Object.assign(() => 1, resolving, { catch: () => {} }),
  resolving,
];

/** The kinds of outputs, each with another output within. */
const kinds: readonly ((inner: () => unknown) => unknown)[] = [
  (inner) => inner(),
  (inner) => handled((async () => inner())()),
  (inner) => handled(afterTurns(3).then(inner)),
  (inner) => handled(sleep(1).then(inner)),
  (inner) =>
    handled(
      afterTurns(1)
        .then(inner)
        .then(() => Promise.reject(conflict('on the way'))),
    ),
  (inner) => ({ key0: inner(), key1: inner() }),
  (inner) => [inner()],
  (inner) => iterable([inner(), 2], 'return'),
  (inner) => iterable([inner()], 'throw'),
  (inner) => iterable([inner()], 'garbage'),
  (inner) =>
    observable<unknown>((observer) => {
      observer.next(inner());
      observer.complete();
    }),
];

/** Creates an output of every kind within every kind. */
export const outputs: readonly (() => unknown)[] = kinds
  .flatMap((outer) => kinds.map((inner) => (value: unknown) => outer(() => inner(() => value))))
  .map((output, at) => () => output(values[at % values.length]));
