import { TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import { OutgoingResponse, type Header } from '../../http/response.ts';
import { warn } from '../../http/warnings.ts';
import type { Target } from '../../calls/policy.ts';
import { report } from '../../calls/reportError.ts';
import type { RequestContext } from '../../calls/requestContext.ts';
import { clientMessage } from '../../procedures/clientError.ts';
import type { McpSettings } from '../mcpEndpoint.ts';
import type { Protocol } from '../protocol.ts';
import { addRetryAfter, recordError } from '../requestErrors.ts';
import { McpRun } from './mcpRun.ts';
import { currentVersion, decodeName } from './message.ts';
import { errorCodes, errorResponse, type MessageId } from './responses.ts';
import type { Tools } from './tools.ts';
import { toolWarnings } from './toolWarnings.ts';

const allow: Header = ['allow', 'POST, OPTIONS'];

/**
 * Creates the Model Context Protocol of a router.
 * @param instructions how to use the tools together, for the model
 */
export function createMcpProtocol(
  settings: McpSettings,
  tools: Tools,
  instructions: string | undefined,
): Protocol {
  for (const sentence of toolWarnings([...tools.values()])) warn(sentence);
  const [first] = tools.values();
  const unnamed: Target = { procedures: [], callCount: 1, isPublic: first?.target.isPublic ?? false };

  /** Responds with the error of a policy, or of a request without a message: its status is that of the response. */
  function reject(error: TRPCError, context: RequestContext, id?: MessageId): OutgoingResponse {
    report(settings.reportError, error, context);
    const status = getHTTPStatusCodeFromError(error);
    recordError(error, status, context);
    const code = status >= 500 ? errorCodes.internalError : errorCodes.invalidRequest;
    const response = errorResponse(status, { code, message: clientMessage(error) }, id);
    addRetryAfter(response, error, status);
    return response;
  }

  const options = { ...settings, instructions, tools, reject };
  return {
    target({ request }) {
      // The body is compared with these headers. The headers of an older revision are not, so they say nothing.
      const isNamed =
        request.header('mcp-protocol-version') === currentVersion &&
        request.header('mcp-method') === 'tools/call';
      const name = isNamed ? decodeName(request.header('mcp-name')) : undefined;
      return (name === undefined ? undefined : tools.get(name)?.target) ?? unnamed;
    },
    options: () => new OutgoingResponse(204, [allow]),
    respond(context) {
      if (context.request.method === 'POST') return new McpRun(options, context).respond();
      context.outcome.calls = 0;
      const message = 'The method is not allowed at this path. Send each message by POST.';
      const response = reject(new TRPCError({ code: 'METHOD_NOT_SUPPORTED', message }), context);
      response.headers.push(allow);
      return response;
    },
    reject(error, context) {
      // Before the body was read, only the head may have named a tool.
      context.outcome.calls = context.target.procedures.length;
      return reject(error, context);
    },
  };
}
