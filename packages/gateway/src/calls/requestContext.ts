// Hot path: one object per request.
import { TRPCError } from '@trpc/server';
import { performance } from '../http/eventLoop.ts';
import { isObject } from '../http/isObject.ts';
import type { HttpRequest } from '../http/request.ts';
import { OutgoingResponse } from '../http/response.ts';
import { parseTimeout, timeoutHeader } from '../http/timeoutHeader.ts';
import type { Procedure } from '../procedures/procedure.ts';
import type { DeclaredClient, Via } from '../procedures/via.ts';
import type { CallOutcome, PolicyContext, PolicyFor, Target } from './policy.ts';
import { RequestOutcome } from './requestOutcome.ts';
import type { Scheme } from './scheme.ts';
import type { RequestTelemetry } from './telemetry.ts';

export interface ClientTimeout {
  readonly ms: number;
  /** When it ends (`performance.now()`). */
  readonly endsAt: number;
}

/** The abort signal and the deadline that the calls of one request share. */
export class CallContext {
  readonly request: HttpRequest;
  /** The deadline of its calls (`performance.now()`); `undefined` until the first call is pending. */
  deadline: number | undefined = undefined;
  /** `undefined` if the client set no timeout. */
  clientTimeout: ClientTimeout | undefined = undefined;
  telemetry: Pick<RequestTelemetry, 'call'> | undefined = undefined;
  /** The timeout of its calls, in milliseconds; `undefined` for `callTimeoutMs`. */
  readonly timeoutMs: number | undefined;
  readonly #parent: AbortSignal | undefined = undefined;
  #abort: AbortController | undefined = undefined;
  #isFollowing = false;

  /**
   * @param shared the context of the request, for one call with a deadline of its own
   * @param timeoutMs the deadline of the procedure (`callTimeoutMs`). The call then also ends with `shared`
   */
  constructor(request: HttpRequest, shared?: CallContext, timeoutMs?: number) {
    this.request = request;
    this.timeoutMs = timeoutMs;
    if (shared === undefined) return;
    this.clientTimeout = shared.clientTimeout;
    this.telemetry = shared.telemetry;
    if (timeoutMs === undefined) return;
    // The parent must notice a disconnect. Otherwise it starts to follow only when one of its own calls is pending.
    shared.follow();
    this.#parent = shared.signal;
    this.follow();
  }

  /** Sets the deadline, if it is not set: the earlier of the calls' own deadline and the client's. */
  begin(defaultTimeoutMs: number): void {
    if (this.deadline !== undefined) return;
    const ownDeadline = performance.now() + (this.timeoutMs ?? defaultTimeoutMs);
    this.deadline = Math.min(ownDeadline, this.clientTimeout?.endsAt ?? Infinity);
  }

  /** Aborts with its parent and at the deadline. It is created on first use, because it costs as much as a small call. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#parent?.aborted ?? this.request.isAborted) this.follow();
    }
    return this.#abort.signal;
  }

  /** Starts to follow the parent. Call it before anything is pending: before that, a disconnect cannot be noticed. */
  follow(): void {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    const { request } = this;
    if (this.#parent === undefined && !request.isAborted && request.whenAborted) {
      return request.whenAborted((reason) => this.abort(reason));
    }
    const parent = this.#parent ?? request.signal;
    // AbortSignal.any takes 13 µs, this 0.2 µs. The listener is not removed, because the output may be an open stream.
    if (parent.aborted) this.abort(parent.reason);
    else parent.addEventListener('abort', () => this.abort(parent.reason), { once: true });
  }

  abort(reason?: unknown): void {
    (this.#abort ??= new AbortController()).abort(reason);
  }
}

/** The protocol of a request; `other` is the OpenAPI document and `routes`. */
export type ProtocolName = Via['protocol'];

/** The state of one request: the findings of the policies, the data that protocols need, and the outcome of its calls. */
export class RequestContext<Identity = unknown> extends CallContext implements PolicyContext<Identity> {
  declare telemetry: RequestTelemetry | undefined;
  readonly protocol: ProtocolName;
  /** The `X-Request-Id` of the response. */
  readonly requestId: string;
  /** The time of arrival (`performance.now()`); 0 if no record is kept. */
  readonly startedAt: number;
  /** The identity that the scheme's `verify` returned. */
  identity: Identity | undefined = undefined;
  /** The verified credential; `undefined` without one. It may be revoked while a stream is open. */
  credential: string | undefined = undefined;
  scheme: Scheme<Identity> | undefined = undefined;
  readonly via: RequestVia;
  /** All scopes of the procedures that were rejected for a missing scope. */
  requiredScopes: ReadonlySet<string> | undefined = undefined;
  /** Whether the request is served without a valid credential, because the operation is public. */
  isAnonymous = false;
  /** The context that `createContext` returned (REST and MCP only). */
  ctx: unknown = undefined;
  /** The parameters of the path (REST only). One that is not valid UTF-8 is `undefined`. */
  parameters: readonly (string | undefined)[] = noParameters;
  /** The raw input, after the call has read it (REST and MCP only). */
  input: unknown = undefined;
  /** The response, as procedures set its status and headers. */
  readonly response = new OutgoingResponse();
  kind: PolicyContext['kind'] = 'request';
  /** The properties of the request that the protocol has read for the policies. */
  target: Target = noTarget;
  data: object = noData;
  /** The errors of the calls of a batch that a policy has rejected while it admitted others, by their index. */
  rejectedCalls: ReadonlyMap<number, TRPCError> | undefined = undefined;
  challenges: readonly string[] | undefined = undefined;
  rateLimit: string | undefined = undefined;
  readonly outcome = new RequestOutcome();

  constructor(request: HttpRequest, protocol: ProtocolName, startedAt: number) {
    super(request);
    this.protocol = protocol;
    this.requestId = requestId(request.header('x-request-id'));
    this.startedAt = startedAt;
    this.via = new RequestVia(protocol, request);
  }

  get procedures(): readonly Procedure[] {
    return this.target.procedures.filter((procedure) => procedure !== undefined);
  }

  get outcomes(): readonly CallOutcome[] {
    const { calls, failedCodes, isPending, requestCode } = this.outcome;
    const success = isPending ? undefined : 'OK';
    return Array.from({ length: calls }, (_, index) => ({
      procedure: this.target.procedures[index],
      code: requestCode ?? failedCodes?.get(index) ?? success,
    }));
  }

  get isReplay(): boolean {
    return this.response.isReplayed;
  }

  get isStream(): boolean {
    return this.outcome.isStream;
  }
}

/** Through what a request acts: more is known after authentication, and after a message was read (MCP only). */
class RequestVia implements Via {
  readonly protocol: ProtocolName;
  tool: string | undefined = undefined;
  // Not the context, which has the input and the response: a record may be kept.
  readonly #request: HttpRequest;
  #clientInfo: unknown = undefined;
  #credential: string | undefined = undefined;
  #scheme: Scheme | undefined = undefined;

  constructor(protocol: ProtocolName, request: HttpRequest) {
    this.protocol = protocol;
    this.#request = request;
  }

  /** Sets what the credential was verified by. */
  authenticated(credential: string, scheme: Scheme): void {
    this.#credential = credential;
    this.#scheme = scheme;
  }

  /** Sets what a message says: the client's name and version, as received, and the name of the called tool. */
  declared(clientInfo: unknown, tool: string | undefined): void {
    this.#clientInfo = clientInfo;
    this.tool = tool;
  }

  get client(): DeclaredClient | undefined {
    const info = isObject(this.#clientInfo) ? this.#clientInfo : {};
    const declared = printable(info['name']);
    const name = declared ?? printable(this.#request.header('user-agent'));
    return name === undefined ? undefined : { name, version: declared && printable(info['version']) };
  }

  get oauthClient(): string | undefined {
    return this.#credential === undefined ? undefined : this.#scheme?.oauthClient?.(this.#credential);
  }

  toJSON(): Via {
    const { client, oauthClient, protocol, tool } = this;
    return { protocol, tool, client, oauthClient };
  }

  /** What `console.log` prints. */
  [Symbol.for('nodejs.util.inspect.custom')](): Via {
    return this.toJSON();
  }
}

/** Returns at most 256 characters, without those that a terminal or a viewer of logs does not show as such. */
const printable = (text: unknown): string | undefined =>
  typeof text === 'string'
    ? text
        .slice(0, 256)
        .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
        .trim() || undefined
    : undefined;

/** A policy of the gateway, which sees the whole state of a request. */
export type RequestPolicy<Identity = unknown> = PolicyFor<RequestContext<Identity>, OutgoingResponse>;

const noParameters: readonly never[] = [];
const noTarget: Target = { procedures: [], callCount: 1, isPublic: false };
/** Shared, since only the policies of the service write data. */
const noData: object = Object.freeze({});

// Every request gets an id, so a fast one: a random prefix with a counter takes 0.03 µs, `randomUUID` 0.45 µs.

// The id is written into logs and into a response header, so it must be printable and short, without separators.
const validRequestId = /^[A-Za-z0-9._~:+/=-]{1,128}$/;

/** The texts of a counter from 0 to 999, since to write a number would take twice as long as all the rest. */
const counts = Array.from({ length: 1000 }, (_, count) => String(count).padStart(3, '0'));

let idPrefix = '';
let idCount = counts.length;

/** Returns the client's `X-Request-Id` if it is valid, otherwise a new id. New ids are unique, not secret. */
export function requestId(header: string | undefined): string {
  if (header !== undefined && validRequestId.test(header)) return header;
  if (idCount === counts.length) {
    // A UUID without its last three digits: 110 random bits.
    idPrefix = crypto.randomUUID().slice(0, 33);
    idCount = 0;
  }
  const id = idPrefix + (counts[idCount] as string);
  idCount += 1;
  return id;
}

/**
 * Reads the client's timeout from `Grpc-Timeout`. It shortens the deadline of the calls of the request. A malformed
 * value is rejected with 400, because the client relies on its deadline.
 */
export const clientTimeoutPolicy: RequestPolicy = {
  admit(context) {
    const value = context.request.header(timeoutHeader);
    // Calls on a WebSocket have no headers, and opening the socket takes no time.
    if (value === undefined || context.kind === 'socket') return undefined;
    const ms = parseTimeout(value);
    if (ms === undefined) {
      return new TRPCError({
        code: 'BAD_REQUEST',
        message:
          'Grpc-Timeout: must be a positive integer of at most 8 digits and a unit (H, M, S, m, u or n), such as 1500m for 1.5 s.',
      });
    }
    context.clientTimeout = { ms, endsAt: performance.now() + ms };
    return undefined;
  },
};
