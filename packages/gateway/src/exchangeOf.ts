import { Answer } from './answer.ts';
import type { GatewayRequest, GatewayResponse } from './http.ts';
import type { Exchange } from './options.ts';

type Asked = Pick<Exchange, 'requestId' | 'method' | 'path' | 'face' | 'isStream' | 'durationMs'> & {
  /** What its stream failed with. */
  readonly cause: unknown;
};

/**
 * What a log and metrics want to know of a request and its answer.
 * @param response `undefined` where a WebSocket was let in
 */
export function exchangeOf(
  request: GatewayRequest,
  response: GatewayResponse | undefined,
  { requestId, method, path, face, isStream, durationMs, cause }: Asked,
): Exchange {
  const answer = response instanceof Answer ? response : undefined;
  const operation = answer?.operation;
  return {
    requestId,
    method,
    path,
    face,
    operation,
    procedures: answer?.procedures ?? (operation === undefined ? [] : [operation]),
    calls: answer === undefined || face === 'other' || method === 'OPTIONS' ? 0 : answer.calls,
    // Who is let in is answered 101 (RFC 6455 §4.2.2).
    status: response?.status ?? 101,
    isStream,
    durationMs,
    bytesIn: bytesIn(request),
    bytesOut: bytesOut(method, response?.body),
    limit: answer?.limit,
    error: answer?.error ?? cause,
  };
}

function bytesIn(request: GatewayRequest): number | undefined {
  if (request.method === 'GET' || request.method === 'HEAD') return 0;
  if (request.header('transfer-encoding') !== undefined) return undefined;
  return Number(request.header('content-length') ?? 0);
}

function bytesOut(method: string, body: GatewayResponse['body']): number | undefined {
  if (body === undefined || method === 'HEAD') return 0;
  if (typeof body === 'string') return Buffer.byteLength(body);
  return body instanceof Uint8Array ? body.byteLength : undefined;
}
