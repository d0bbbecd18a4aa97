// Hot path: every request runs through it. The globals `Buffer` and `performance` are getters, and each reading costs 50 ns.
import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { TRPCError } from '@trpc/server';
import { Answer, type FailedCall } from './answer.ts';
import type { AnswerHeaders } from './edge/answerHeaders.ts';
import {
  isBodyStream,
  type GatewayBodyStream,
  type GatewayRequest,
  type GatewayResponse,
  type SocketAcceptor,
} from './http.ts';
import type { Exchange } from './options.ts';
import { pacedIterable } from './pacedIterable.ts';
import { requestId } from './requestId.ts';
import type { Failure } from './rest/failure.ts';

/** Answers a request by `answer`, which is given the request's id, and tells of it. What that throws is answered too. */
export type Exchanges = <Outcome extends GatewayResponse | SocketAcceptor>(
  request: GatewayRequest,
  face: Exchange['face'],
  answer: (id: string) => Outcome | Promise<Outcome>,
) => Outcome | GatewayResponse | Promise<Outcome | GatewayResponse>;

interface ExchangesOptions {
  readonly tell: (exchange: Exchange, failedCalls?: readonly FailedCall[]) => void;
  readonly complete: AnswerHeaders;
  readonly failure: Failure;
  readonly hasCors: boolean;
}

export function createExchanges({ tell, complete, failure, hasCors }: ExchangesOptions): Exchanges {
  function finish<Outcome extends GatewayResponse | SocketAcceptor>(
    asked: Asked,
    outcome: Outcome | GatewayResponse,
  ): Outcome | GatewayResponse {
    const response = isResponse(outcome) ? outcome : undefined;
    if (response === undefined) {
      tell(exchangeOf(asked, response, false));
      return outcome;
    }
    // First: where it fails, what is told is the failure.
    const completed = complete(response, asked);
    const { body } = response;
    if (isBodyStream(body)) {
      const stream = watchedStream(body, (cause) =>
        tell(exchangeOf(asked, response, true, cause), failedCallsOf(response)),
      );
      return { ...completed, body: stream };
    }
    tell(exchangeOf(asked, response, false), failedCallsOf(response));
    return completed;
  }

  function rescue(asked: Asked, error: unknown): GatewayResponse {
    const rescued = failure(new TRPCError({ code: 'INTERNAL_SERVER_ERROR', cause: error }));
    rescued.error = error;
    return finish<GatewayResponse>(asked, rescued);
  }

  return (request, face, answer) => {
    const asked = new Asked(request, face, hasCors);
    try {
      const outcome = answer(asked.id);
      return outcome instanceof Promise
        ? outcome.then(
            (given) => {
              try {
                return finish(asked, given);
              } catch (error) {
                return rescue(asked, error);
              }
            },
            (error: unknown) => rescue(asked, error),
          )
        : finish(asked, outcome);
    } catch (error) {
      return rescue(asked, error);
    }
  };
}

/** What a request is named by, read while its host answers for it. */
class Asked {
  readonly request: GatewayRequest;
  readonly face: Exchange['face'];
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** The `Origin` header, where pages of other origins may call. */
  readonly pageOrigin: string | undefined;
  readonly begun: number;

  constructor(request: GatewayRequest, face: Exchange['face'], hasCors: boolean) {
    this.begun = request.seenAt ?? performance.now();
    this.request = request;
    this.face = face;
    this.id = requestId(request.header('x-request-id'));
    this.method = request.method;
    this.path = request.path;
    this.pageOrigin = hasCors ? request.header('origin') : undefined;
  }
}

/**
 * What a log and metrics want to know: data, which whoever keeps it may write out whole, and which holds no body.
 * @param response `undefined` where a WebSocket was let in
 * @param cause what its stream failed with
 */
function exchangeOf(
  { begun, face, id, method, path, request }: Asked,
  response: GatewayResponse | undefined,
  isStream: boolean,
  cause?: unknown,
): Exchange {
  const answer = response instanceof Answer ? response : undefined;
  const operation = answer?.operation;
  return {
    requestId: id,
    method,
    path,
    face,
    operation,
    procedures: answer?.procedures ?? (operation === undefined ? [] : [operation]),
    calls: answer === undefined || face === 'other' || method === 'OPTIONS' ? 0 : answer.calls,
    // Who is let in is answered 101 (RFC 6455 §4.2.2).
    status: response?.status ?? 101,
    isStream,
    durationMs: performance.now() - begun,
    bytesIn: request.receivedBytes,
    bytesOut: method === 'HEAD' ? 0 : bytesOf(response?.body),
    limit: answer?.limit,
    error: answer?.error ?? cause,
  };
}

const failedCallsOf = (response: GatewayResponse) =>
  response instanceof Answer ? response.failedCalls : undefined;

function bytesOf(body: GatewayResponse['body']): number | undefined {
  if (body === undefined) return 0;
  if (typeof body === 'string') return Buffer.byteLength(body);
  return body instanceof Uint8Array ? body.byteLength : undefined;
}

/** A stream that tells when it is over, and what it failed with. */
function watchedStream(body: GatewayBodyStream, onOver: (cause?: unknown) => void): GatewayBodyStream {
  const iterable = pacedIterable(body, () => undefined, onOver);
  return body.end ? { ...iterable, end: () => body.end?.() } : iterable;
}

const isResponse = (outcome: GatewayResponse | SocketAcceptor): outcome is GatewayResponse =>
  typeof outcome !== 'function';
