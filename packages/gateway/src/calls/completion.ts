// Hot path: every response runs through it.
import { TRPCError } from '@trpc/server';
import type { HttpResponse } from '../http/response.ts';
import { OutgoingResponse } from '../http/outgoingResponse.ts';
import { sendHook } from './hookedResponse.ts';
import type { Hooks } from './hooks.ts';
import type { Policy } from './policy.ts';
import type { Recorder } from './recorder.ts';
import type { RequestScope } from './requestScope.ts';

export interface CompletionOptions<Identity> {
  /** The policies, in the order in which they complete a response. */
  readonly policies: readonly Policy<Identity>[];
  readonly onSend: Hooks<never>['onSend'];
  readonly recorder: Recorder;
  readonly errorResponse: (error: TRPCError, scope: RequestScope<Identity>) => OutgoingResponse;
}

/** Completes every response: it runs the policies, then `onSend`, and reports the request. */
export interface Completion<Identity> {
  readonly complete: (scope: RequestScope<Identity>, response: HttpResponse) => HttpResponse;
  /** Returns a completed 500 for an error of the gateway itself or of a route. */
  readonly rescue: (scope: RequestScope<Identity>, cause: unknown) => HttpResponse;
}

export function createCompletion<Identity>({
  policies,
  onSend,
  recorder,
  errorResponse,
}: CompletionOptions<Identity>): Completion<Identity> {
  const completingPolicies = [...policies.filter((policy) => policy.complete), requestIdPolicy];
  if (onSend) completingPolicies.push(sendHook(onSend, errorResponse, [...completingPolicies]));

  function finish(scope: RequestScope<Identity>, response: OutgoingResponse): OutgoingResponse {
    if (scope.headers) for (const header of scope.headers) response.headers.push(header);
    for (const policy of completingPolicies) policy.complete?.(scope, response);
    recorder.response(scope, response);
    return response;
  }

  function rescue(scope: RequestScope<Identity>, cause: unknown): HttpResponse {
    const response = errorResponse(new TRPCError({ code: 'INTERNAL_SERVER_ERROR', cause }), scope);
    scope.error = cause;
    return finish(scope, response);
  }

  function complete(scope: RequestScope<Identity>, response: HttpResponse): HttpResponse {
    try {
      return finish(scope, response instanceof OutgoingResponse ? response : OutgoingResponse.of(response));
    } catch (error) {
      return rescue(scope, error);
    }
  }

  return { complete, rescue };
}

const requestIdPolicy: Policy<unknown> = {
  complete({ requestId }, { headers }) {
    headers.push(['x-request-id', requestId]);
  },
};
