import { TRPCClientError, type TRPCLink } from '@trpc/client';
import type { AnyTRPCRouter } from '@trpc/server';
import { observable, type Unsubscribable } from '@trpc/server/observable';
import { longestTimer } from '../http/eventLoop.ts';
import { contextOf, type RetriedCall } from './callHeaders.ts';

/** Union of the paths of a router's mutations, such as `'pets.create'`. */
export type MutationPath<Router extends AnyTRPCRouter> = PathsBelow<Router['_def']['record'], ''>;

type PathsBelow<Members, Prefix extends string> = {
  [Name in keyof Members & string]: Members[Name] extends { readonly _def: { readonly type: infer Type } }
    ? 'mutation' extends Type
      ? `${Prefix}${Name}`
      : never
    : PathsBelow<Members[Name], `${Prefix}${Name}.`>;
}[keyof Members & string];

export interface SafeRetryOptions<Router extends AnyTRPCRouter> {
  /**
   * Mutations that accept an `Idempotency-Key` on the server, by path. Each call gets a new key, which its retries
   * repeat. To choose the key yourself, pass `context: { idempotencyKey }` with the call. Other mutations are never
   * retried. Default: none.
   */
  readonly keyedMutations?: readonly MutationPath<Router>[];
  /** Maximum number of requests per call, the first one included. Default: 4. */
  readonly attempts?: number;
  /**
   * Timeout of a call over all its attempts, in milliseconds. The call then fails with an error whose `cause` is a
   * `TimeoutError`. The server receives the remaining time in a header. Default: 30000. Infinity: no timeout, no
   * header.
   */
  readonly timeoutMs?: number;
  /**
   * Maximum delay between two attempts, in milliseconds. If `Retry-After` of a response is longer, the call fails with
   * the error of that response. Default: 10000.
   */
  readonly maxDelayMs?: number;
}

/** Maximum delay before the second attempt; it doubles with each further attempt. */
const firstDelayMs = 200;

/** Too many requests, and errors of proxies and overloaded servers. */
const retriedStatuses: ReadonlySet<number | undefined> = new Set([429, 502, 503, 504]);

/** Names of errors of `fetch`, and of a body that is not JSON (`SyntaxError`): it was truncated or is a proxy's. */
const networkErrors: ReadonlySet<string | undefined> = new Set(['TypeError', 'NetworkError', 'SyntaxError']);

/**
 * Creates a link that retries calls after transient errors, if a retry is safe: queries, and mutations whose
 * idempotency key was sent. The delay is `Retry-After` of the response, if any, plus exponential backoff with full
 * jitter. The terminating link needs `headers: callHeaders`. Subscriptions are passed on unchanged.
 */
export function safeRetryLink<Router extends AnyTRPCRouter>(
  options: SafeRetryOptions<Router> = {},
): TRPCLink<Router> {
  const { attempts = 4, timeoutMs = 30_000, maxDelayMs = 10_000 } = options;
  const keyedMutations: ReadonlySet<string> = new Set(options.keyedMutations);

  return () =>
    ({ op, next }) => {
      if (op.type === 'subscription') return next(op);
      const idempotencyKey =
        contextOf(op).idempotencyKey ??
        (op.type === 'mutation' && keyedMutations.has(op.path) ? newIdempotencyKey() : undefined);

      return observable((observer) => {
        const retriedCall: RetriedCall = { deadline: performance.now() + timeoutMs, isKeySent: false };
        const context = { ...op.context, idempotencyKey, retriedCall };
        let attempt = 0;
        let request: Unsubscribable | undefined;
        let waiting: ReturnType<typeof setTimeout> | undefined;

        function send(): void {
          attempt += 1;
          request = next({ ...op, context }).subscribe({
            next: (envelope) => observer.next(envelope),
            complete: () => observer.complete(),
            error(error) {
              const ms = isRetryable(error) ? delayMs(error) : Infinity;
              if (performance.now() + ms >= retriedCall.deadline) observer.error(error);
              else waiting = setTimeout(send, ms);
            },
          });
        }

        function isRetryable(error: TRPCClientError<Router>): boolean {
          if (attempt >= attempts || op.signal?.aborted) return false;
          if (op.type === 'mutation' && !retriedCall.isKeySent) return false;
          const status = callStatus(error);
          if (status === undefined) return networkErrors.has(error.cause?.name);
          // An earlier request with this key is still running. Other conflicts have no Retry-After.
          if (status === 409) return retriedCall.isKeySent && requestedDelayMs(error) !== undefined;
          return retriedStatuses.has(status);
        }

        function delayMs(error: TRPCClientError<Router>): number {
          const backoffMs = Math.random() * Math.min(maxDelayMs, firstDelayMs * 2 ** (attempt - 1));
          const requestedMs = requestedDelayMs(error);
          if (requestedMs === undefined) return backoffMs;
          // Plus backoff, so that clients with the same Retry-After do not all retry at the same time.
          return requestedMs > maxDelayMs ? Infinity : Math.min(maxDelayMs, requestedMs + backoffMs);
        }

        const abort = () => observer.error(TRPCClientError.from(op.signal?.reason as Error));
        const timeout =
          timeoutMs > longestTimer
            ? undefined
            : setTimeout(() => observer.error(timeoutError(timeoutMs)), timeoutMs);
        op.signal?.addEventListener('abort', abort, { once: true });
        send();
        return () => {
          clearTimeout(waiting);
          clearTimeout(timeout);
          op.signal?.removeEventListener('abort', abort);
          request?.unsubscribe();
        };
      });
    };
}

/** Returns 128 random bits as hex digits. Pages without TLS do not have `crypto.randomUUID`. */
const newIdempotencyKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );

/** Returns the response that tRPC's link has read. With a custom `fetch`, it may have no headers. */
const failedResponse = ({ meta }: TRPCClientError<AnyTRPCRouter>) =>
  meta?.['response'] as { readonly status?: number; readonly headers?: Headers } | undefined;

const requestedDelayMs = (error: TRPCClientError<AnyTRPCRouter>): number | undefined =>
  retryAfterMs(failedResponse(error)?.headers?.get('retry-after') ?? '');

/** Returns the status of a call, also within a batch; `undefined` if no response was read. */
const callStatus = (error: TRPCClientError<AnyTRPCRouter>): number | undefined =>
  (error.data as { readonly httpStatus?: number } | undefined)?.httpStatus ?? failedResponse(error)?.status;

function timeoutError(ms: number) {
  const message = `The call timed out after ${ms} ms. Whether it had an effect is unknown.`;
  return new TRPCClientError<never>(message, { cause: new DOMException(message, 'TimeoutError') });
}

// The date formats of RFC 9110 §5.6.7: `Sun, 06 Nov 1994 08:49:37 GMT`, and without a zone `Sun Nov  6 08:49:37 1994`.
const httpDatePattern = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*,? [-\w :]+$/;

/** Parses `Retry-After` (RFC 9110 §10.2.3), seconds or a date, to milliseconds; `undefined` for any other value. */
export function retryAfterMs(value: string, now = Date.now()): number | undefined {
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  if (!httpDatePattern.test(value)) return undefined;
  const at = Date.parse(value.endsWith(' GMT') ? value : `${value} GMT`);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
