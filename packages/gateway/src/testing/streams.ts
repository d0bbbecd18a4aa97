/** The callbacks of a stream that tests pass to it, and counts of their calls. */
export function streamCallbacks() {
  const seen = { aborted: 0, watched: 0, revoke: () => {} };
  const callbacks = {
    watch: (onRevoked: () => void) => {
      seen.watched += 1;
      seen.revoke = onRevoked;
      return () => (seen.watched -= 1);
    },
    abort: () => (seen.aborted += 1),
  };
  return { callbacks, seen };
}

/** An endless iterable that counts the calls of its iterator. `next` returns the value of a call by its number, from 1. */
export function endless<Value>(next: (requested: number) => Value | Promise<Value>) {
  const seen = { requested: 0, returned: 0 };
  const iterable = {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        seen.requested += 1;
        return { done: false as const, value: await next(seen.requested) };
      },
      return: async () => {
        seen.returned += 1;
        return { done: true as const, value: undefined };
      },
    }),
  };
  return { iterable, seen };
}
