import * as z from 'zod';
import { DeclaredError, declareErrors, type ErrorDefinition } from './declareErrors.ts';

/** The definition of `RESYNC`, to declare it beside other errors. */
export const resyncDefinition = {
  status: 410,
  message: 'Events are missing since they are no longer kept. Load the data again.',
  data: z.object({
    lastEventId: z.string().meta({ description: 'The id with which the subscription continues.' }),
  }),
} satisfies ErrorDefinition;

/**
 * Declares the error `RESYNC` of a subscription whose client has missed events for good: it loads its data again, then
 * subscribes with `lastEventId` of the error. Add it with `.errors(resyncErrors)`.
 *
 * Over tRPC it ends the subscription as any error does. Over REST it is an event of its own, `event: resync` with its id
 * and the body of the error, after which the stream ends and `EventSource` connects again by itself, with that id.
 *
 * The status is 410, as of a watch in Kubernetes whose version is too old.
 */
export const resyncErrors = declareErrors({ RESYNC: resyncDefinition });

/** Returns the id with which a subscription continues after a `RESYNC`; `undefined` for any other error. */
export function resyncId(cause: unknown): string | undefined {
  if (!(cause instanceof DeclaredError) || cause.declaredCode !== 'RESYNC') return undefined;
  // The data of another error of that name may be anything.
  const { lastEventId } = Object(cause.data) as { readonly lastEventId?: unknown };
  // Other characters than `tracked` accepts would end the line of the id, and begin another event.
  return typeof lastEventId === 'string' && !/[\0\n\r]/.test(lastEventId) ? lastEventId : undefined;
}
