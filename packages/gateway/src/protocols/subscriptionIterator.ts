import { isObservable, observableToAsyncIterable } from '@trpc/server/observable';
import type { CallContext } from '../calls/requestContext.ts';
import { isAsyncIterable } from '../http/response.ts';

/** Returns the iterator of what a subscription has returned. @throws {Error} if it has none */
export function subscriptionIterator(output: unknown, context: CallContext): AsyncIterator<unknown> {
  const events = isObservable(output) ? observableToAsyncIterable(output, context.signal) : output;
  if (isAsyncIterable(events)) return events[Symbol.asyncIterator]();
  throw new Error('The subscription returned neither an async iterable nor an observable.');
}
