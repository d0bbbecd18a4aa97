import type { TRPCRequestInfo } from '@trpc/server/http';
import { parseConnectionParamsFromString } from '@trpc/server/http';
import type { HttpRequest } from '../../http/request.ts';

/** The credential in tRPC's connection parameters: `authorization`, in any case, as the header of that name has it. */
export const authorizationOf = (parameters: TRPCRequestInfo['connectionParams']): string | undefined =>
  Object.entries(parameters ?? {}).find(([name]) => name.toLowerCase() === 'authorization')?.[1];

/**
 * The credential of an `EventSource`, which has no way to send a header: tRPC's `httpSubscriptionLink` puts its
 * connection parameters into the query. No other request may carry one there (RFC 6750 §2.3).
 * @returns `undefined` where the header decides
 */
export function connectionAuthorization(request: HttpRequest): string | undefined {
  if (request.header('authorization') !== undefined || !request.query.includes('connectionParams='))
    return undefined;
  if (request.method !== 'GET' || !request.header('accept')?.includes('text/event-stream')) return undefined;
  const parameters = new URLSearchParams(request.query).get('connectionParams');
  try {
    return parameters === null ? undefined : authorizationOf(parseConnectionParamsFromString(parameters));
  } catch {
    // They are no parameters, so they hold no credential: that is answered, and no more.
    return undefined;
  }
}

/** Whether a socket's first message is to be its connection parameters, as tRPC's handler reads the URL that opened it. */
export const sendsParameters = ({ query }: HttpRequest): boolean =>
  new URLSearchParams(query).get('connectionParams') === '1';
