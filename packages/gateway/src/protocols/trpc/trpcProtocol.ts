import { TRPCError } from '@trpc/server';
import { type Header, OutgoingResponse } from '../../http/response.ts';
import type { Protocol } from '../protocol.ts';
import { forEventSource } from '../requestErrors.ts';
import { errorEvent, eventHeaders, EventsResponse } from './eventsResponse.ts';
import { JsonResponse } from './jsonResponse.ts';
import { LinesResponse } from './linesResponse.ts';
import type { TrpcSettings } from './options.ts';
import { jsonType } from './trpcErrors.ts';
import { TrpcRequest } from './trpcRequest.ts';

/**
 * The tRPC protocol over HTTP. Responses are the same as those of tRPC's standalone adapter, with three differences:
 * the credential is checked first, `OPTIONS` is a CORS preflight, and limits apply.
 */
export const createTrpcProtocol = (settings: TrpcSettings): Protocol<TrpcRequest> => ({
  target: ({ request }) => new TrpcRequest(request, settings),
  options: () => new OutgoingResponse(204, [allowHeader]),
  reject: (error, context) =>
    forEventSource(settings.errors.response(error, context), context, eventHeaders, (body) =>
      errorEvent(JSON.stringify((JSON.parse(body) as { readonly error: unknown }).error)),
    ),
  respond(context, request) {
    const { http, info, paths } = request;
    if (http.method === 'HEAD') {
      // As in tRPC, it runs nothing.
      context.outcome.calls = 0;
      return new OutgoingResponse(204, []);
    }
    context.outcome.calls = paths.length;
    // Those of a request that was not read as a whole, such as a batch of too many calls, for policies and records.
    if (info === undefined) request.procedures = paths.map((path) => settings.procedures.get(path));
    // Known procedures only: clients choose the other names, which must not become labels of metrics.
    context.outcome.calledPaths = request.procedures.includes(undefined)
      ? paths.filter((path) => settings.procedures.has(path))
      : paths;
    if (!trpcMethods.has(http.method)) {
      const message = `The method is not allowed at this path. Use one of ${allowHeader[1]}.`;
      const error = new TRPCError({ code: 'METHOD_NOT_SUPPORTED', message });
      return settings.errors.response(error, context, [jsonType, allowHeader]);
    }
    if (info?.accept === 'application/jsonl') return new LinesResponse(settings, context, request).respond();
    if (info?.type === 'subscription' && !info.isBatchCall)
      return new EventsResponse(settings, context, request).respond();
    return new JsonResponse(settings, context, request).respond();
  },
});

const allowHeader: Header = ['allow', 'GET, POST, HEAD, OPTIONS'];

/** The methods that tRPC supports. They are case-sensitive (RFC 9110 §9.1). */
const trpcMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);
