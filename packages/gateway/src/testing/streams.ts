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

/** Counts the calls of its iterator. `next` gets the number of a call, from 1; endless without `count`. */
export function endless<Value>(next: (requested: number) => Value | Promise<Value>, count = Infinity) {
  const seen = { requested: 0, returned: 0 };
  const iterable = {
    [Symbol.asyncIterator]: () => ({
      next: async (): Promise<IteratorResult<Value, undefined>> => {
        seen.requested += 1;
        if (seen.requested > count) return { done: true, value: undefined };
        return { done: false, value: await next(seen.requested) };
      },
      return: async () => {
        seen.returned += 1;
        return { done: true as const, value: undefined };
      },
    }),
  };
  return { iterable, seen };
}

/** Returns a body as text, with the error if it fails. */
export async function textOf(body: string | AsyncIterable<Uint8Array>): Promise<string> {
  if (typeof body === 'string') return body;
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of body) pieces.push(piece);
  } catch (cause) {
    return `${Buffer.concat(pieces).toString()}FAILED ${String(cause)}`;
  }
  return Buffer.concat(pieces).toString();
}
