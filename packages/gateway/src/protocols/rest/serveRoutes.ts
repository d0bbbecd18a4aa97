import { TRPCError } from '@trpc/server';
import { BodyTooLargeError } from '../../http/request.ts';
import { requireResponse, OutgoingResponse } from '../../http/response.ts';
import type { Target } from '../../calls/policy.ts';
import type { RequestContext } from '../../calls/requestContext.ts';
import type { RouteHandler, RouteTable } from '../../calls/routes.ts';
import { isTrpcError } from '../../procedures/clientError.ts';
import type { Protocol } from '../protocol.ts';
import { receiveError } from '../../calls/receiveError.ts';
import { allowOf, methodNotAllowed, type ErrorResponse } from './errorResponse.ts';

/** The routes of a path, and the one that a request addresses. */
interface RouteTarget extends Target {
  readonly methods: ReadonlyMap<string, RouteHandler> | undefined;
  readonly route: RouteHandler | undefined;
}

/** Creates the protocol of routes, including the document. Errors, including 404, have the format of REST errors. */
export function createRouteProtocol(routes: RouteTable, errorResponse: ErrorResponse): Protocol<RouteTarget> {
  const notFound = new TRPCError({ code: 'NOT_FOUND', message: 'There is no route at this path.' });

  async function runRoute(route: RouteHandler, context: RequestContext): Promise<OutgoingResponse> {
    const { request, requestId } = context;
    try {
      const response: unknown = await route(request, { requestId });
      return OutgoingResponse.of(requireResponse(response, `The route ${request.method} ${request.path}`));
    } catch (cause) {
      if (cause instanceof BodyTooLargeError || request.isAborted) {
        return errorResponse(receiveError(cause), context);
      }
      if (isTrpcError(cause)) return errorResponse(cause, context);
      throw cause;
    }
  }

  return {
    target({ request: { method, path } }) {
      const methods = routes.get(path);
      return { procedures: [], callCount: 1, isPublic: true, methods, route: methods?.get(method) };
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
