import { getErrorShape, transformTRPCResponse, type AnyTRPCRouter, type TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { Answer } from '../../http/answer.ts';
import type { Header } from '../../http/response.ts';
import { CallFailures } from './callFailures.ts';

/** Answers an error of the gateway's own over tRPC. */
export type RpcFailure = (error: TRPCError, headers?: readonly Header[]) => Answer;

/** One error, unbatched: every link of the client understands it, whatever was called. */
export function createRpcFailure(router: AnyTRPCRouter): RpcFailure {
  // Not what the router says: these errors are the gateway's own, and their stacks too.
  const config = { ...router._def._config, isDev: false };
  return (error, headers = []) => {
    const shape = getErrorShape({
      config,
      error,
      type: 'unknown',
      path: undefined,
      input: undefined,
      ctx: undefined,
    });
    const answer = new Answer(
      getHTTPStatusCodeFromError(error),
      headers.slice(),
      JSON.stringify(transformTRPCResponse(config, { error: shape })),
    );
    const failures = new CallFailures();
    failures.add(error, undefined);
    return failures.follow(answer);
  };
}

export const json: Header = ['content-type', 'application/json'];
