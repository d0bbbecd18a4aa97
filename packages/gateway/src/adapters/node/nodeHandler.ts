import type { IncomingMessage, ServerResponse } from 'node:http';
import { defaultBodyBytes, type Service } from '../../http/service.ts';
import { defaultRejection, internalErrorResponse } from '../server/rejections.ts';
import { requireService } from '../server/serveOptions.ts';
import { MountedRequest } from './mountedRequest.ts';
import { prefixRemover } from './prefixRemover.ts';
import type { NodeRequest } from './request.ts';
import { Responder } from './responder.ts';

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

/** The server has read the head and enforces its own limits. */
export const noHeadLimits = { maxHeaderBytes: Infinity };

/**
 * Creates a handler of node:http from a gateway: `app.use('/api', nodeHandler(gateway))` in Express, or
 * `createServer(nodeHandler(gateway))`. Your server manages connections, TLS, limits of request heads and shutdown.
 * @throws {TypeError} if `service` is not a gateway, such as the promise of one
 */
export function nodeHandler(service: Service, options: NodeHandlerOptions = {}): NodeHandler {
  requireService('nodeHandler', service);
  const {
    handle,
    shed,
    rejectHttp = defaultRejection,
    maxBodyBytes = defaultBodyBytes,
    maxStreamBytes = maxBodyBytes,
    serves,
  } = service;
  const removePrefix = prefixRemover(options.prefix);
  const limits = { ...noHeadLimits, maxBodyBytes, maxStreamBytes };
  const handleOrReject = (request: NodeRequest) =>
    request.rejection ? rejectHttp(request, request.rejection) : (shed?.(request) ?? handle(request));
  const responder = new Responder(handleOrReject, Infinity, () => {});
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
