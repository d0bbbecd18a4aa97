import { TRPCError } from '@trpc/server';
import type { MaybePromise } from '../../http/maybePromise.ts';
import { BodyTooLargeError, type HttpRequest } from '../../http/request.ts';
import { requireResponse } from '../../http/response.ts';
import { OutgoingResponse } from '../../http/outgoingResponse.ts';
import type { Target } from '../../calls/policy.ts';
import type { RequestContext } from '../../calls/requestContext.ts';
import type { RouteHandler, RouteTable } from '../../calls/routes.ts';
import { LimitError } from '../../procedures/limitError.ts';
import type { Protocol } from '../protocol.ts';
import { allowOf, methodNotAllowed, type ErrorResponse } from './errorResponse.ts';

/** The routes of a path, and the one that a request addresses. */
interface RouteTarget extends Target {
  readonly methods: ReadonlyMap<string, RouteHandler> | undefined;
  readonly route: RouteHandler | undefined;
}

/** Creates the protocol of routes, including the document. Errors, including 404, have the format of REST errors. */
export function createRouteProtocol<Identity>(
  routes: RouteTable,
  errorResponse: ErrorResponse,
): Protocol<Identity, RouteTarget> {
  const notFound = new TRPCError({ code: 'NOT_FOUND', message: 'There is no route at this path.' });

  function runRoute(route: RouteHandler, context: RequestContext<Identity>): MaybePromise<OutgoingResponse> {
    const { request, requestId } = context;
    const handleError = (cause: unknown) => {
      const error = routeError(cause, request);
      if (error === undefined) throw cause;
      return errorResponse(error, context);
    };
    const source = `The route ${request.method} ${request.path}`;
    const toOutgoing = (response: unknown) => OutgoingResponse.of(requireResponse(response, source));
    try {
      const response = route(request, { requestId });
      return response instanceof Promise
        ? response.then(toOutgoing).catch(handleError)
        : toOutgoing(response);
    } catch (cause) {
      return handleError(cause);
    }
  }

  return {
    target({ request: { method, path } }) {
      const methods = routes.get(path);
      const route = methods?.get(method === 'HEAD' ? 'GET' : method);
      return { procedures: [], callCount: 1, isPublic: true, methods, route };
    },
    options: (context, { methods }) =>
      methods ? new OutgoingResponse(204, [['allow', allowOf(methods)]]) : errorResponse(notFound, context),
    respond(context, { methods, route }) {
      if (route) return runRoute(route, context);
      return methods ? methodNotAllowed(methods, errorResponse, context) : errorResponse(notFound, context);
    },
    reject: errorResponse,
  };
}

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
