import type { GatewayMeta, Reply } from '@petstore/gateway/meta';
import { initTRPC, type TRPCError } from '@trpc/server';
import type { Store } from './store/store.ts';

/** What the procedures need of their surroundings. */
export interface Context {
  readonly store: Store;
  readonly reply: Reply;
  /** Whose call it is, by the hash of the API key; `undefined` where nobody asked for one. */
  readonly caller: string | undefined;
  readonly idempotencyKey: string | undefined;
}

export const { router, procedure } = initTRPC
  .context<Context>()
  .meta<GatewayMeta>()
  .create({
    // Without it an answer carries a stack wherever NODE_ENV is not `production` (@trpc/server 11.25).
    isDev: false,
    errorFormatter({ shape, error }) {
      return isForClients(error) ? shape : { ...shape, message: inPlainWords(error.code) };
    },
  });

/**
 * Whether somebody wrote an error's message for clients. tRPC copies the message of a cause into its error where none
 * was given: a driver's text, a path, a connection string. What is wrong with an input is told that way too.
 */
function isForClients({ code, message, cause }: TRPCError): boolean {
  if (cause === undefined) return true;
  if (code === 'INTERNAL_SERVER_ERROR') return false;
  return message !== cause.message || (code === 'BAD_REQUEST' && 'issues' in cause);
}

/** `SERVICE_UNAVAILABLE` as "Service unavailable". */
const inPlainWords = (code: string) =>
  `${code.slice(0, 1)}${code.slice(1).toLowerCase().replaceAll('_', ' ')}`;
