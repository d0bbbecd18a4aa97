// Hot path: every request runs through it. The globals `Buffer` and `performance` are getters, and each reading costs 50 ns.
import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { TRPCError } from '@trpc/server';
import { Answer, type FailedCall } from '../http/answer.ts';
import type { AnswerHeaders } from './answerHeaders.ts';
import type { HttpRequest } from '../http/request.ts';
import { isBodyStream, type BodyStream, type HttpResponse } from '../http/response.ts';
import type { SocketAcceptor } from '../http/webSocket.ts';
import type { Exchange } from './exchange.ts';
import { pacedIterable } from '../http/pacedIterable.ts';
import { requestId } from '../http/requestId.ts';

/** Answers a request by `answer`, which is given the request's id, and tells of it. What that throws is answered too. */
export type Exchanges = <Outcome extends HttpResponse | SocketAcceptor>(
  request: HttpRequest,
  face: Exchange['face'],
  answer: (id: string) => Outcome | Promise<Outcome>,
) => Outcome | HttpResponse | Promise<Outcome | HttpResponse>;

interface ExchangesOptions {
  readonly tell: (exchange: Exchange, failedCalls?: readonly FailedCall[]) => void;
  readonly complete: AnswerHeaders;
  /** Answers an error that nothing else answers. */
  readonly failure: (error: TRPCError) => Answer;
  readonly hasCors: boolean;
}

export function createExchanges({ tell, complete, failure, hasCors }: ExchangesOptions): Exchanges {
  function finish<Outcome extends HttpResponse | SocketAcceptor>(
    asked: Asked,
    outcome: Outcome | HttpResponse,
  ): Outcome | HttpResponse {
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

  function rescue(asked: Asked, error: unknown): HttpResponse {
    const rescued = failure(new TRPCError({ code: 'INTERNAL_SERVER_ERROR', cause: error }));
    rescued.error = error;
    return finish<HttpResponse>(asked, rescued);
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
  readonly request: HttpRequest;
  readonly face: Exchange['face'];
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** The `Origin` header, where pages of other origins may call. */
  readonly pageOrigin: string | undefined;
  readonly begun: number;

  constructor(request: HttpRequest, face: Exchange['face'], hasCors: boolean) {
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
  response: HttpResponse | undefined,
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

const failedCallsOf = (response: HttpResponse) =>
  response instanceof Answer ? response.failedCalls : undefined;

function bytesOf(body: HttpResponse['body']): number | undefined {
  if (body === undefined) return 0;
  if (typeof body === 'string') return Buffer.byteLength(body);
  return body instanceof Uint8Array ? body.byteLength : undefined;
}

/** A stream that tells when it is over, and what it failed with. */
function watchedStream(body: BodyStream, onOver: (cause?: unknown) => void): BodyStream {
  const iterable = pacedIterable(body, () => undefined, onOver);
  return body.end ? { ...iterable, end: () => body.end?.() } : iterable;
}

const isResponse = (outcome: HttpResponse | SocketAcceptor): outcome is HttpResponse =>
  typeof outcome !== 'function';
