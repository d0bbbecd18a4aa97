import { TRPCError } from '@trpc/server';
import { mapMaybePromise, type MaybePromise } from '../../http/maybePromise.ts';
import { BodyTooLargeError, type HttpRequest } from '../../http/request.ts';
import type { HttpResponse } from '../../http/response.ts';
import { requireResponse } from '../../http/requireResponse.ts';
import { OutgoingResponse } from '../../http/outgoingResponse.ts';
import { admit, type Policy, type Target } from '../../calls/policy.ts';
import type { RequestScope } from '../../calls/requestScope.ts';
import type { Route, RouteTable } from '../../calls/routes.ts';
import { LimitError } from '../../procedures/limitError.ts';
import type { ErrorResponse } from './errorResponse.ts';
import { allowOf, methodNotAllowed } from './methodNotAllowed.ts';

export interface RoutesOptions<Identity> {
  readonly routes: RouteTable<Identity>;
  /** The policies of routes with `protect`. */
  readonly policies: readonly Policy<Identity>[];
  readonly errorResponse: ErrorResponse;
}

/**
 * Creates the function that serves routes, including the document. Errors, including 404, have the format of REST
 * errors.
 */
export function createRouteServer<Identity>({ routes, policies, errorResponse }: RoutesOptions<Identity>) {
  function serveRoute(scope: RequestScope<Identity>): MaybePromise<HttpResponse> {
    const { request } = scope;
    const methods = routes.at(request.path);
    if (methods === undefined) {
      const error = new TRPCError({ code: 'NOT_FOUND', message: 'There is no route at this path.' });
      return errorResponse(error, scope);
    }
    const route = methods.get(request.method === 'HEAD' ? 'GET' : request.method);
    if (route === undefined) {
      if (request.method === 'OPTIONS') return new OutgoingResponse(204, [['allow', allowOf(methods)]]);
      return methodNotAllowed(methods, errorResponse, scope);
    }
    if (!route.protect) return runRoute(route, scope);
    return mapMaybePromise(admit(policies, scope, protectedRoute), (error) =>
      error ? errorResponse(error, scope) : runRoute(route, scope),
    );
  }

  function runRoute(route: Route<Identity>, scope: RequestScope<Identity>): MaybePromise<HttpResponse> {
    const { identity, request, requestId: id } = scope;
    const handleError = (cause: unknown) => {
      const error = routeError(cause, request);
      if (error === undefined) throw cause;
      return errorResponse(error, scope);
    };
    const source = `The route ${request.method} ${request.path}`;
    try {
      const response = route.handler(request, { identity, requestId: id });
      return response instanceof Promise
        ? response.then((settled) => requireResponse(settled, source)).catch(handleError)
        : requireResponse(response, source);
    } catch (cause) {
      return handleError(cause);
    }
  }

  return serveRoute;
}

const protectedRoute: Target = { callCount: 1, isPublic: false };

/** Converts an error of a handler to the error that the client receives. `undefined` for an unexpected one. */
function routeError(cause: unknown, request: HttpRequest): TRPCError | undefined {
  if (cause instanceof BodyTooLargeError) {
    return new LimitError('body-bytes', { code: 'PAYLOAD_TOO_LARGE', message: cause.message });
  }
  if (request.isAborted) {
    return new TRPCError({ code: 'CLIENT_CLOSED_REQUEST', message: 'The client disconnected.', cause });
  }
  return cause instanceof TRPCError ? cause : undefined;
}
