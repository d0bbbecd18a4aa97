import type { IncomingMessage, ServerResponse } from 'node:http';
import { discardStream, isBodyStream, type HttpResponse } from '../../http/response.ts';
import type { Service } from '../../http/service.ts';
import { defaultRejection, internalErrorResponse } from '../server/rejections.ts';
import { GatewayError } from '../../http/gatewayError.ts';
import { requestLimits, requireService } from '../server/serveOptions.ts';
import { MountedRequest } from './mountedRequest.ts';
import type { NodeRequest } from './request.ts';
import { NodeResponder } from './responder.ts';

export interface NodeHandlerOptions {
  /**
   * Path below which the gateway is mounted, such as `/api`. Set it only if the server leaves this prefix in `req.url`:
   * Express removes the path of `app.use`, Fastify does not. Default: none.
   */
  readonly prefix?: string;
}

/** A handler of node:http. `next` is called for paths that the gateway does not serve; without `next`, they get 404. */
export type NodeHandler = (
  req: IncomingMessage,
  res: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

const notFoundRejection = { status: 404, code: 'NOT_FOUND', message: 'There is no route at this path.' };

/**
 * Creates a handler of node:http from a gateway: `app.use('/api', nodeHandler(gateway))` in Express, or
 * `createServer(nodeHandler(gateway))`. Your server manages connections, TLS, limits of request heads and shutdown.
 * @throws {GatewayError} if `service` is not a gateway, such as the promise of one
 */
export function nodeHandler(service: Service, options: NodeHandlerOptions = {}): NodeHandler {
  requireService('nodeHandler', service);
  const { rejectHttp = defaultRejection, serves } = service;
  const removePrefix = prefixRemover(options.prefix);
  const limits = requestLimits(service);
  const responder = new MountedResponder(service);
  return (req, res, next) => {
    const url = req.url ?? '/';
    const target = removePrefix(url);
    const request = new MountedRequest(req, res, target ?? url, limits);
    if (next && (target === undefined || serves?.(request.path) === false)) next();
    else if (target === undefined) responder.respond(request, rejectHttp(request, notFoundRejection));
    else {
      try {
        request.takeParsedBody();
      } catch (error) {
        if (next) return next(error);
        process.emitWarning(error as Error);
        return responder.respond(request, internalErrorResponse);
      }
      responder.receive(request);
    }
  };
}

class MountedResponder extends NodeResponder {
  override respond(request: NodeRequest, response: HttpResponse): void {
    if (!request.res.headersSent) super.respond(request, response);
    // Another handler of the server has already responded.
    else if (isBodyStream(response.body)) void discardStream(response.body);
  }
}

/**
 * Creates a function that removes a prefix from a request target, and returns `undefined` for other targets.
 * @throws {GatewayError} if the prefix does not begin with a slash
 */
export function prefixRemover(prefix = ''): (url: string) => string | undefined {
  const start = prefix.replace(/\/+$/, '');
  if (start === '') return (url) => url;
  if (!start.startsWith('/')) {
    throw new GatewayError(`The option prefix is "${prefix}"; it must begin with a slash, such as "/api".`);
  }
  return (url) => {
    if (!url.startsWith(start)) return undefined;
    const rest = url.slice(start.length);
    if (rest === '' || rest.startsWith('?')) return `/${rest}`;
    return rest.startsWith('/') ? rest : undefined;
  };
}
