import type { HttpResponse } from '@uwsjs/core';
import type { MaybePromise } from '../petStore/resolvers.ts';

/** Writes a result: at once, or when its promise is resolved, unless the client has gone. */
export function writeSettled<Value>(
  res: HttpResponse,
  result: MaybePromise<Value>,
  write: (value: Value) => void,
): void {
  if (!(result instanceof Promise)) return write(result);
  let isAborted = false;
  res.onAborted(() => {
    isAborted = true;
  });
  void result.then((value) => {
    if (!isAborted) res.cork(() => write(value));
  });
}
