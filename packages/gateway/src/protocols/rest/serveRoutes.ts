import { TRPCError } from '@trpc/server';
import { BodyTooLargeError } from '../../http/request.ts';
import { requireResponse } from '../../http/response.ts';
import { OutgoingResponse } from '../../http/outgoingResponse.ts';
import type { Target } from '../../calls/policy.ts';
import type { RequestScope } from '../../calls/requestScope.ts';
import type { Route, RouteTable } from '../../calls/routes.ts';
import type { Protocol } from '../protocol.ts';
import { allowOf, methodNotAllowed, receiveError, type ErrorResponse } from './errorResponse.ts';

/** The routes of a path, and the one that a request addresses. */
interface RouteTarget<Identity> extends Target {
  readonly methods: ReadonlyMap<string, Route<Identity>> | undefined;
  readonly route: Route<Identity> | undefined;
}

/** Creates the protocol of routes, including the document. Errors, including 404, have the format of REST errors. */
export function createRouteProtocol<Identity>(
  routes: RouteTable<Identity>,
  errorResponse: ErrorResponse,
): Protocol<Identity, RouteTarget<Identity>> {
  const notFound = new TRPCError({ code: 'NOT_FOUND', message: 'There is no route at this path.' });

  async function runRoute(
    { handler }: Route<Identity>,
    scope: RequestScope<Identity>,
  ): Promise<OutgoingResponse> {
    const { identity, request, requestId } = scope;
    try {
      const response: unknown = await handler(request, { identity, requestId });
      return OutgoingResponse.of(requireResponse(response, `The route ${request.method} ${request.path}`));
    } catch (cause) {
      if (cause instanceof BodyTooLargeError || request.isAborted) {
        return errorResponse(receiveError(cause), scope);
      }
      if (cause instanceof TRPCError) return errorResponse(cause, scope);
      throw cause;
    }
  }

  return {
    target({ request: { method, path } }) {
      const methods = routes.at(path);
      const route = methods?.get(method === 'HEAD' ? 'GET' : method);
      return { procedures: [], callCount: 1, isPublic: false, isOpen: !route?.protect, methods, route };
    },
    options: (scope, { methods }) =>
      methods ? new OutgoingResponse(204, [['allow', allowOf(methods)]]) : errorResponse(notFound, scope),
    respond(scope, { methods, route }) {
      if (route) return runRoute(route, scope);
      return methods ? methodNotAllowed(methods, errorResponse, scope) : errorResponse(notFound, scope);
    },
    reject: errorResponse,
  };
}
