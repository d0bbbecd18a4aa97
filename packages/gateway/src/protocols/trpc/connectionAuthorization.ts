import type { TRPCRequestInfo } from '@trpc/server/http';
import type { HttpRequest } from '../../http/request.ts';

/** The credential in tRPC's connection parameters: `authorization`, in any case, as the header of that name has it. */
export const authorizationOf = (parameters: TRPCRequestInfo['connectionParams']): string | undefined =>
  Object.entries(parameters ?? {}).find(([name]) => name.toLowerCase() === 'authorization')?.[1];

/** Whether a socket's first message is to be its connection parameters, as tRPC's handler reads the URL that opened it. */
export const sendsParameters = ({ query }: HttpRequest): boolean =>
  new URLSearchParams(query).get('connectionParams') === '1';
