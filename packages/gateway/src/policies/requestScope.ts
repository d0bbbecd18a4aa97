// Hot path: one object per request.
import type { HttpRequest } from '../http/request.ts';
import type { Header } from '../http/response.ts';
import type { Limit } from '../http/limit.ts';
import { ResponseControls } from '../procedures/responseControls.ts';
import { CallScope } from './callScope.ts';
import type { Scheme } from './scheme.ts';

/** What serves a request; `other` is the document and what `routes` serve. */
export type ProtocolName = 'rest' | 'rpc' | 'other';

/** An unexpected error (5xx), and the procedure whose call it ended. */
export interface FailedCall {
  readonly error: unknown;
  /** `undefined` where the error does not belong to one call. */
  readonly path: string | undefined;
}

/** One request on its way: what policies find out about it, what protocols need, and what its log record holds. */
export class RequestScope<Identity = unknown> extends CallScope {
  readonly protocol: ProtocolName;
  /** The `X-Request-Id` of the response. */
  readonly requestId: string;
  /** By `performance.now()`; 0 where no record is kept. */
  readonly startedAt: number;
  /** What the scheme's `verify` returned. */
  identity: Identity | undefined = undefined;
  /** The credential; `undefined` where none was checked. It may be revoked while a stream goes on. */
  credential: string | undefined = undefined;
  /** The scheme of the credential. */
  scheme: Scheme<Identity> | undefined = undefined;
  /** The scopes of the procedures that the credential lacks one of. */
  requiredScopes: ReadonlySet<string> | undefined = undefined;
  /** Whether a public operation is served without a good credential. */
  isAnonymous = false;
  /** What `createContext` returned, over REST. */
  context: unknown = undefined;
  /** The input as the request has it, once the call has read it, over REST. */
  input: unknown = undefined;
  /** Headers that policies add to the response. */
  headers: Header[] | undefined = undefined;

  /** The procedure that was called; of a batch, joined by commas. */
  operation: string | undefined = undefined;
  /** The existing procedures that were called, one per call, where that is not `operation` alone. */
  procedures: readonly string[] | undefined = undefined;
  /** The number of calls in the request. */
  calls = 1;
  /** The last unexpected error (5xx). */
  error: unknown = undefined;
  /** Every call that failed unexpectedly. */
  failedCalls: readonly FailedCall[] = none;
  /** The limit that rejected the request, or a call of it. */
  limit: Limit | undefined = undefined;
  #responseControls: ResponseControls | undefined = undefined;

  constructor(request: HttpRequest, protocol: ProtocolName, requestId: string, startedAt: number) {
    super(request);
    this.protocol = protocol;
    this.requestId = requestId;
    this.startedAt = startedAt;
  }

  /** What the procedures of this request may set of its response. */
  get responseControls(): ResponseControls {
    return (this.#responseControls ??= new ResponseControls());
  }

  addHeader(name: string, value: string): void {
    (this.headers ??= []).push([name, value]);
  }
}

const none: readonly FailedCall[] = [];
