import { TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { OutgoingResponse, type Header } from '../../http/response.ts';
import type { Target } from '../../calls/policy.ts';
import type { RequestContext } from '../../calls/requestContext.ts';
import { clientMessage, originalOf } from '../../procedures/clientError.ts';
import { LimitError, retryAfterSecondsOf } from '../../procedures/limitError.ts';
import type { McpSettings } from '../mcpEndpoint.ts';
import type { Protocol } from '../protocol.ts';
import { McpRun } from './mcpRun.ts';
import { currentVersion, decodeName } from './message.ts';
import { errorCodes, errorResponse, type MessageId } from './responses.ts';
import { createTools } from './tools.ts';

const allow: Header = ['allow', 'POST, OPTIONS'];

/** Creates the Model Context Protocol of a router: procedures with `mcp` in their metadata are its tools. */
export function createMcpProtocol(settings: McpSettings): Protocol<unknown, Target> {
  const tools = createTools(settings.procedures, settings.limits.maxResponseBytes);
  const [first] = tools.values();
  const unnamed: Target = { procedures: [], callCount: 1, isPublic: first?.target.isPublic ?? false };

  /** Responds with the error of a policy, or of a request without a message: its status is that of the response. */
  function reject(error: TRPCError, context: RequestContext, id?: MessageId): OutgoingResponse {
    const { operation: path, request } = context;
    settings.reportError?.({ error, path, type: 'unknown', input: undefined, ctx: undefined, request });
    const status = getHTTPStatusCodeFromError(error);
    if (error instanceof LimitError) context.limit = error.limit;
    else if (status >= 500) context.error = originalOf(error);
    const code = status >= 500 ? errorCodes.internalError : errorCodes.invalidRequest;
    const response = errorResponse(status, code, clientMessage(error), id);
    const retryAfterSeconds = retryAfterSecondsOf(error, status);
    if (retryAfterSeconds !== undefined) response.header('retry-after', String(retryAfterSeconds));
    return response;
  }

  const options = { ...settings, tools, reject };
  return {
    target({ request }) {
      // The body is compared with these headers. Those of an older revision are not, so they say nothing.
      const isNamed =
        request.header('mcp-protocol-version') === currentVersion &&
        request.header('mcp-method') === 'tools/call';
      const name = isNamed ? decodeName(request.header('mcp-name')) : undefined;
      return (name === undefined ? undefined : tools.get(name)?.target) ?? unnamed;
    },
    options: () => new OutgoingResponse(204, [allow]),
    respond(context) {
      if (context.request.method === 'POST') return new McpRun(options, context).respond();
      context.calls = 0;
      const message = 'The method is not allowed at this path. Send each message by POST.';
      const response = reject(new TRPCError({ code: 'METHOD_NOT_SUPPORTED', message }), context);
      response.headers.push(allow);
      return response;
    },
    reject,
  };
}
