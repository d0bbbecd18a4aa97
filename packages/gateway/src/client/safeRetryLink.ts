import { TRPCClientError, type TRPCLink } from '@trpc/client';
import type { AnyTRPCRouter } from '@trpc/server';
import { observable, type Unsubscribable } from '@trpc/server/observable';
import { contextOf, type RetriedCall } from './callHeaders.ts';
import type { MutationPath } from './mutationPath.ts';
import { retryAfterMs } from './retryAfter.ts';

export interface SafeRetryOptions<Router extends AnyTRPCRouter> {
  /**
   * The mutations that take an `Idempotency-Key` on the server. Each call of one gets a key of its own, which its retries
   * repeat; `context: { idempotencyKey }` of a call gives another. Other mutations are never retried. Default: none.
   */
  readonly idempotent?: readonly MutationPath<Router>[];
  /** How many requests a call may make. Default: 4. */
  readonly attempts?: number;
  /**
   * How long a call may take with all its attempts, in milliseconds. Then it ends with an error whose `cause` is a
   * `TimeoutError`. The server knows by a header. Default: 30000. Infinity: no limit, and no header.
   */
  readonly timeoutMs?: number;
  /**
   * How long to wait between two attempts at most, in milliseconds. Where the server asks for more by `Retry-After`, the
   * call ends with its error. Default: 10000.
   */
  readonly maxDelayMs?: number;
}

/** The wait before the second attempt is up to so many milliseconds, and twice as many before each further one. */
const firstDelayMs = 200;

/** A longer timer would fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/** Too many requests, and those of servers and proxies that could not serve one. */
const retriedStatuses: ReadonlySet<number | undefined> = new Set([429, 502, 503, 504]);

/** The errors of `fetch` (`TypeError`), and of a body that is no JSON: it was cut, or a proxy wrote it. */
const networkErrors: ReadonlySet<string | undefined> = new Set(['TypeError', 'NetworkError', 'SyntaxError']);

/**
 * A link that retries calls that failed for a passing reason, where a repeat is safe: queries, and mutations whose
 * idempotency key was sent. It waits as `Retry-After` says, and without it for a random time that grows with each attempt
 * (exponential backoff, full jitter). The link that sends the calls needs `headers: callHeaders`. Subscriptions pass it.
 */
export function safeRetryLink<Router extends AnyTRPCRouter>(
  options: SafeRetryOptions<Router> = {},
): TRPCLink<Router> {
  const { attempts = 4, timeoutMs = 30_000, maxDelayMs = 10_000 } = options;
  const idempotent: ReadonlySet<string> = new Set(options.idempotent);

  return () =>
    ({ op, next }) => {
      if (op.type === 'subscription') return next(op);
      const idempotencyKey =
        contextOf(op).idempotencyKey ??
        (op.type === 'mutation' && idempotent.has(op.path) ? newKey() : undefined);

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
          const status = statusOf(error);
          if (status === undefined) return networkErrors.has(error.cause?.name);
          // An earlier request with this key still runs. Other conflicts have no Retry-After.
          if (status === 409) return retriedCall.isKeySent && retryAfterOf(error) !== undefined;
          return retriedStatuses.has(status);
        }

        function delayMs(error: TRPCClientError<Router>): number {
          const backoffMs = Math.random() * Math.min(maxDelayMs, firstDelayMs * 2 ** (attempt - 1));
          const requestedMs = retryAfterOf(error);
          if (requestedMs === undefined) return backoffMs;
          // The backoff comes on top: clients that are told the same time do not return all at once.
          return requestedMs > maxDelayMs ? Infinity : Math.min(maxDelayMs, requestedMs + backoffMs);
        }

        const abort = () => observer.error(TRPCClientError.from(op.signal?.reason as Error));
        const timeout =
          timeoutMs > longestTimerMs
            ? undefined
            : setTimeout(() => observer.error(timedOut(timeoutMs)), timeoutMs);
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

/** 128 random bits. Not `crypto.randomUUID`, which pages without TLS do not have. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );

/** The response that a link of tRPC's has read: a custom `fetch` may give one without headers. */
const responseOf = ({ meta }: TRPCClientError<AnyTRPCRouter>) =>
  meta?.['response'] as { readonly status?: number; readonly headers?: Headers } | undefined;

const retryAfterOf = (error: TRPCClientError<AnyTRPCRouter>): number | undefined =>
  retryAfterMs(responseOf(error)?.headers?.get('retry-after') ?? '');

/** The status of a call, of a batch too; `undefined` where no response was read. */
const statusOf = (error: TRPCClientError<AnyTRPCRouter>): number | undefined =>
  (error.data as { readonly httpStatus?: number } | undefined)?.httpStatus ?? responseOf(error)?.status;

function timedOut(ms: number) {
  const message = `The call took longer than ${ms} ms; whether it had an effect is unknown.`;
  return new TRPCClientError<never>(message, { cause: new DOMException(message, 'TimeoutError') });
}
