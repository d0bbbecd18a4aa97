import { TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import type { MaybePromise } from '../http/maybePromise.ts';
import { type Header, headersOf, isBodyStream, utf8Length, OutgoingResponse } from '../http/response.ts';
import { codeOf, originalOf } from '../procedures/clientError.ts';
import { outputErrorMessage } from '../procedures/compile.ts';
import { Failure, readableCause } from '../procedures/execute.ts';
import { LimitError } from '../procedures/limitError.ts';
import type { Procedure } from '../procedures/procedure.ts';
import type { CallRunner } from '../calls/callRunner.ts';
import { IdempotencyState, type ReservedKey } from './idempotencyState.ts';
import type { Limits } from '../calls/limits.ts';
import { memoryState } from '../state/memoryState.ts';
import { callerKey, type Caller } from './caller.ts';
import type { RequestContext } from '../calls/requestContext.ts';
import type { State } from '../state/sharedState.ts';

/** Options for storing responses of procedures with `idempotencyKey: 'optional'` or `'required'`, and replaying them. */
export interface IdempotencyOptions<Identity> {
  /** How long a response is replayed, in milliseconds. Default: 86400000 (one day). */
  readonly ttlMs?: number;
  /**
   * Returns the caller that an idempotency key belongs to, so that two callers may use the same key, or `undefined` for
   * the default: the credential; all callers without a credential share one set of keys. Required without
   * `authentication`.
   */
  readonly caller?: (caller: Caller<Identity>) => string | undefined;
}

/** The response to an earlier request with the same key. */
export type ReplayedResponse = OutgoingResponse & Pick<StoredResponse, 'code' | 'isResultCut'>;

/** A call with an idempotency key; it may repeat an earlier one. */
export interface KeyedCall {
  readonly procedure: Procedure;
  readonly key: string;
  /** The part of the input outside the body, as JSON-serializable data. It is part of the fingerprint. */
  readonly head: readonly unknown[];
  readonly body: MaybePromise<Uint8Array<ArrayBuffer> | FormData | undefined>;
}

/** The state that is stored under a key. */
type IdempotencyEntry = { readonly fingerprint: string } &
  /** `run` distinguishes the entries of two requests. */
  (
    | { readonly runsUntil: number; readonly run: string }
    | { readonly response: StoredResponse }
    /** The status of a response that is too large to store. */
    | { readonly status: number }
  );

interface StoredResponse {
  readonly status: number;
  /** The code of the error that the client received: over MCP, the status says nothing. */
  readonly code?: string | undefined;
  /** Whether it is the result of a tool, and not complete. */
  readonly isResultCut?: true | undefined;
  readonly headers: readonly Header[];
  readonly text?: string;
  /** A binary body: one byte in each UTF-16 code unit. */
  readonly bytes?: string;
}

/** In bytes, with headers. A repeat after a larger response or a stream gets 409 and does not run. */
const maxStoredBytes = 65_536;

/** How long after its deadline a call may still take to respond, in milliseconds. */
const leaseMarginMs = 10_000;

/** Statuses that are not stored, besides every 5xx: nothing was done, or the client should retry. */
const unstoredStatuses: ReadonlySet<number> = new Set([400, 401, 403, 408, 425, 429, 499]);

export type Idempotency = ReturnType<typeof createIdempotency>;

/** Stores the first response to an `Idempotency-Key`, and replays it (IETF httpapi-idempotency-key-header-07). */
export function createIdempotency<Identity>(
  { ttlMs = 86_400_000, caller }: IdempotencyOptions<Identity>,
  { callTimeoutMs }: Limits,
  calls: CallRunner,
  state: State = memoryState(),
) {
  const idempotencyState = new IdempotencyState(state, ttlMs, callTimeoutMs);

  async function reserve(
    context: RequestContext<Identity>,
    { body, head, key, procedure }: KeyedCall,
  ): Promise<IdempotencyReservation | ReplayedResponse> {
    const callerName = callerKey(context, caller, 'idempotency.caller') ?? '';
    // Start before the first await: afterwards the buffer of the body may hold the bytes of another request.
    const digests = Promise.all([
      // The name of the caller may be a credential, which the state need not know.
      digestOf(callerName),
      digestOf(JSON.stringify([callerName, procedure.path, key])),
      bodyDigest(body).then((digest) => digestOf(JSON.stringify([context.protocol, head, digest]))),
    ]);
    const [callerDigest, stateKey, fingerprint] = await digests;
    const ownMs = (procedure.callTimeoutMs ?? callTimeoutMs) + leaseMarginMs;
    const leaseMs = ownMs < Infinity ? ownMs : ttlMs;
    const runsUntil = Date.now() + leaseMs;
    const entry: IdempotencyEntry = { fingerprint, runsUntil, run: crypto.randomUUID() };
    const reserved: ReservedKey = { key: stateKey, value: JSON.stringify(entry), caller: callerDigest };
    let existingEntry: string | undefined;
    try {
      // The key must not expire while the call runs, or a repeat would run too.
      existingEntry = await idempotencyState.reserve(reserved, Math.max(leaseMs, ttlMs));
    } catch (cause) {
      throw new TRPCError({
        code: 'SERVICE_UNAVAILABLE',
        message: 'Idempotency-Key: earlier requests are temporarily unavailable. Try again later.',
        cause: readableCause(cause),
      });
    }
    return existingEntry === undefined
      ? new IdempotencyReservation(idempotencyState, reserved, fingerprint)
      : replayOf(JSON.parse(existingEntry) as IdempotencyEntry, fingerprint);
  }

  return {
    /** Calls `onReserved` with a reservation, or with the stored response, or a `Failure`. It never throws. */
    reserve(
      context: RequestContext<Identity>,
      call: KeyedCall,
      onReserved: (result: IdempotencyReservation | ReplayedResponse | Failure) => void,
    ): void {
      const reserving = reserve(context, call);
      calls.wait(reserving, context, (result) => {
        onReserved(result as IdempotencyReservation | ReplayedResponse | Failure);
        // The deadline passed before the state responded: nothing has run.
        if (result instanceof Failure) void reserving.then(releaseReservation).catch(() => undefined);
      });
    },
  };
}

/** A reserved key: the call with this key is running. */
export class IdempotencyReservation {
  readonly #state: IdempotencyState;
  readonly #reserved: ReservedKey;
  readonly #fingerprint: string;
  #outcome: unknown = undefined;

  constructor(state: IdempotencyState, reserved: ReservedKey, fingerprint: string) {
    this.#state = state;
    this.#reserved = reserved;
    this.#fingerprint = fingerprint;
  }

  /** Records the outcome of the call: its output, or a `Failure`. */
  settle(outcome: unknown): void {
    this.#outcome = outcome;
  }

  /**
   * Stores the response of the call, unless the state takes too long. It never rejects; an error of the state becomes
   * the `error` of the outcome.
   * @param response `undefined` if the call failed after its deadline. The response to the deadline is not stored
   */
  async complete(response: OutgoingResponse | undefined, context: RequestContext): Promise<void> {
    const outcome = this.#outcome;
    const isTimeout =
      outcome instanceof Failure &&
      outcome.error instanceof LimitError &&
      outcome.error.limit === 'call-timeout';
    if (isTimeout && !context.outcome.isLate) return;
    // A repeat depends on the error itself, which is sent as 413 if it is too large, and with 200 over MCP.
    const isReplaced = (response?.status === 413 || context.protocol === 'mcp') && outcome instanceof Failure;
    const status = isReplaced ? getHTTPStatusCodeFromError(outcome.error) : (response?.status ?? 500);
    // The procedure returned before the error, such as an output that cannot be serialized: it may have had effects.
    const hasRun =
      outcome instanceof Failure
        ? originalOf(outcome.error).message === outputErrorMessage
        : status === 500 || status === 499;
    try {
      if (!hasRun && (status >= 500 || unstoredStatuses.has(status))) await this.release();
      else if (response) {
        // A call may fail after its outcome: its output may be too large.
        const code = outcome instanceof Failure ? codeOf(outcome.error) : context.outcome.errorCode;
        const isResultCut = context.outcome.isResultCut || undefined;
        await this.#state.store(this.#reserved, this.#entryOf(response, { code, isResultCut }));
      }
    } catch (cause) {
      context.outcome.error ??= cause;
    }
  }

  /** Releases the key, so that a repeat runs. */
  async release(): Promise<void> {
    await this.#state.release(this.#reserved);
  }

  #entryOf(response: OutgoingResponse, outcome: Pick<StoredResponse, 'code' | 'isResultCut'>): string {
    const { body, status } = response;
    const fingerprint = this.#fingerprint;
    const unstorable: IdempotencyEntry = { fingerprint, status };
    if (isBodyStream(body) || (body?.length ?? 0) > maxStoredBytes) return JSON.stringify(unstorable);
    const stored: StoredResponse = {
      status,
      ...outcome,
      headers: headersOf(response),
      ...(typeof body === 'string' ? { text: body } : body && { bytes: textOfBytes(body) }),
    };
    const entry = JSON.stringify({ fingerprint, response: stored } satisfies IdempotencyEntry);
    return utf8Length(entry) > maxStoredBytes ? JSON.stringify(unstorable) : entry;
  }
}

const releaseReservation = async (result: IdempotencyReservation | ReplayedResponse) => {
  if (result instanceof IdempotencyReservation) await result.release();
};

/** @throws {TRPCError} if the response cannot be replayed */
function replayOf(entry: IdempotencyEntry, fingerprint: string): ReplayedResponse {
  if (entry.fingerprint !== fingerprint) {
    // A client that used a new key for a repeat that differs in form only would run the call twice.
    const message =
      'Idempotency-Key: was used with another input, or over another protocol. To repeat that call, send it again as it was; use a new key only for another action.';
    throw new TRPCError({ code: 'UNPROCESSABLE_CONTENT', message });
  }
  if ('response' in entry) {
    const { bytes, code, headers, isResultCut, status, text } = entry.response;
    const body = bytes === undefined ? text : bytesOfText(bytes);
    const response = new OutgoingResponse(status, [...headers], body);
    response.replayed();
    return Object.assign(response, { code, isResultCut });
  }
  if ('status' in entry) {
    throw new TRPCError({
      code: 'CONFLICT',
      message: `Idempotency-Key: was used for a request that completed with ${entry.status}, but that response is too large to be replayed. Look for its effect, and do not repeat it.`,
    });
  }
  if (entry.runsUntil > Date.now()) {
    const message =
      'Idempotency-Key: was used for a request that is still running. Try again later with the same key.';
    throw Object.assign(new TRPCError({ code: 'CONFLICT', message }), { retryAfterSeconds: 1 });
  }
  throw new TRPCError({
    code: 'CONFLICT',
    message:
      'Idempotency-Key: was used for a request that was interrupted, and whether it had an effect is unknown. Look for its effect first, and repeat it with a new key only if it had none.',
  });
}

const digestEncoder = new TextEncoder();

async function digestOf(content: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof content === 'string' ? digestEncoder.encode(content) : content;
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Digests a body. A form is digested by its entries, because its boundary differs in each request. */
async function bodyDigest(received: KeyedCall['body']): Promise<unknown> {
  const body = received instanceof Promise ? await received : received;
  if (body === undefined) return null;
  if (!(body instanceof FormData)) return digestOf(body);
  return Promise.all(
    Array.from(body, async ([name, value]) =>
      typeof value === 'string'
        ? [name, value]
        : [name, value.name, value.type, await digestOf(new Uint8Array(await value.arrayBuffer()))],
    ),
  );
}

const textOfBytes = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');

const bytesOfText = (text: string): Uint8Array => Uint8Array.from(text, (unit) => unit.charCodeAt(0));
