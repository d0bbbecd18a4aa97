/** Returns what a promise resolves with, or `undefined` if that takes longer than a time, in milliseconds. */
export async function inTime<T>(result: Promise<T>, ms: number): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, ms, undefined);
  try {
    return await Promise.race([result, promise]);
  } finally {
    clearTimeout(timer);
  }
}
