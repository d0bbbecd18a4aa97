import type { IncomingMessage, ServerResponse } from 'node:http';
import { discardStream, isBodyStream, type HttpResponse } from '../../http/response.ts';
import type { Service } from '../../http/service.ts';
import { internalErrorResponse } from '../serve/rejections.ts';
import { requestLimits, requireService } from '../serve/serveOptions.ts';
import { MountedRequest } from './mountedRequest.ts';
import type { NodeRequest } from './request.ts';
import { type Fields, NodeResponder } from './responder.ts';

/** A handler of node:http. `next` is called for paths that the gateway does not serve; without `next`, they get 404. */
export type NodeHandler = (
  req: IncomingMessage,
  res: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

/**
 * Creates a handler of node:http from a gateway: `app.use('/api', nodeHandler(gateway))` in Express, or
 * `createServer(nodeHandler(gateway))`. Your server manages connections, TLS, limits of request heads and shutdown.
 * @throws {GatewayError} if `service` is not a gateway, such as the promise of one
 */
export function nodeHandler(service: Service): NodeHandler {
  requireService('nodeHandler', service);
  const limits = requestLimits(service);
  const responder = new MountedResponder(service);
  return (req, res, next) => {
    const request = new MountedRequest(req, res, limits);
    if (next && service.serves?.(request.path) === false) return next();
    try {
      request.takeParsedBody();
    } catch (error) {
      if (next) return next(error);
      process.emitWarning(error as Error);
      return responder.respond(request, internalErrorResponse);
    }
    responder.receive(request);
  };
}

class MountedResponder extends NodeResponder {
  override respond(request: NodeRequest, response: HttpResponse): void {
    if (!request.res.headersSent) super.respond(request, response);
    // Another handler of the server has already responded.
    else if (isBodyStream(response.body)) void discardStream(response.body);
  }

  /**
   * Sets the headers one by one, as Node does itself if there are some already: on-headers before 1.1 takes an array of
   * `writeHead` for pairs (CVE-2025-7339). It is in Next 16, and in older versions of compression, morgan and sessions.
   */
  protected override writeFields(res: ServerResponse, status: number, fields: Fields): ServerResponse {
    for (let at = 0; at < fields.length; at += 2) res.removeHeader(fields[at] ?? '');
    for (let at = 0; at < fields.length; at += 2) res.appendHeader(fields[at] ?? '', fields[at + 1] ?? '');
    return res.writeHead(status);
  }
}
