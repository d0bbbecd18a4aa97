import type { IncomingMessage, ServerResponse } from 'node:http';
import { defaultBodyBytes, type Service } from '../../http/service.ts';
import { defaultRejection, internalError } from '../server/rejections.ts';
import { requireService } from '../server/serveOptions.ts';
import { MountedRequest } from './mountedRequest.ts';
import { prefixRemover } from './prefix.ts';
import type { NodeRequest } from './request.ts';
import { Responder } from './responder.ts';

export interface NodeHandlerOptions {
  /**
   * The path below which the gateway is mounted, such as `/api`, where the server does not remove it from `req.url`.
   * Express removes that of `app.use`, Fastify does not. Default: none.
   */
  readonly prefix?: string;
}

/** @param next called for a path that is not the gateway's. Without it the gateway answers 404 */
export type NodeHandler = (
  req: IncomingMessage,
  res: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

const notFound = { status: 404, code: 'NOT_FOUND', message: 'There is nothing at this path.' };

/** The limits are the server's: it has read the head. */
export const noLimits = { maxUrlBytes: Infinity, maxHeaderBytes: Infinity };

/**
 * A gateway as a handler of node:http: `app.use('/api', nodeHandler(gateway))` in Express,
 * `createServer(nodeHandler(gateway))`. Connections, TLS, limits of heads and the order of a stop are the server's.
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
  const withoutPrefix = prefixRemover(options.prefix);
  const limits = { ...noLimits, maxBodyBytes, maxStreamBytes };
  const response = (request: NodeRequest) =>
    request.rejection ? rejectHttp(request, request.rejection) : (shed?.(request) ?? handle(request));
  const responder = new Responder(response, Infinity, () => {});
  return (req, res, next) => {
    const url = req.url ?? '/';
    const rest = withoutPrefix(url);
    const request = new MountedRequest(req, res, rest ?? url, limits);
    if (next && (rest === undefined || serves?.(request.path) === false)) next();
    else if (rest === undefined) responder.respond(request, rejectHttp(request, notFound));
    else {
      try {
        request.takeParsedBody();
      } catch (error) {
        if (next) return next(error);
        process.emitWarning(error as Error);
        return responder.respond(request, internalError);
      }
      responder.receive(request);
    }
  };
}
