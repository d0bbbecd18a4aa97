// Hot path: one object per request.
import type { HttpRequest } from '../http/request.ts';
import type { Limit } from '../procedures/limitError.ts';
import { OutgoingResponse } from '../http/outgoingResponse.ts';
import type { Procedure } from '../procedures/procedures.ts';
import { CallScope } from './callScope.ts';
import type { PolicyContext, PolicyFor, Target } from './policy.ts';
import type { Scheme } from './scheme.ts';

/** The protocol of a request; `other` is the OpenAPI document and `routes`. */
export type ProtocolName = 'rest' | 'trpc' | 'other';

/** An unexpected error (5xx) and the procedure that it ended. */
export interface FailedCall {
  readonly error: unknown;
  /** The procedure's path; `undefined` if the error does not belong to one call. */
  readonly path: string | undefined;
}

/**
 * The state of one request: the findings of the policies, the data that protocols need, and the fields of its record.
 */
export class RequestScope<Identity = unknown> extends CallScope implements PolicyContext<Identity> {
  readonly protocol: ProtocolName;
  /** The `X-Request-Id` of the response. */
  readonly requestId: string;
  /** The time of arrival (`performance.now()`); 0 if no record is kept. */
  readonly startedAt: number;
  /** The identity that the scheme's `verify` returned. */
  identity: Identity | undefined = undefined;
  /** The verified credential; `undefined` without one. It may be revoked while a stream is open. */
  credential: string | undefined = undefined;
  /** The scheme of the credential. */
  scheme: Scheme<Identity> | undefined = undefined;
  /** All scopes of the procedures that were rejected for a missing scope. */
  requiredScopes: ReadonlySet<string> | undefined = undefined;
  /** Whether the request is served without a valid credential, because the operation is public. */
  isAnonymous = false;
  /** The context that `createContext` returned (REST only). */
  context: unknown = undefined;
  /** The parameters of the path (REST only). One that is not valid UTF-8 is `undefined`. */
  parameters: readonly (string | undefined)[] = noParameters;
  /** The raw input, after the call has read it (REST only). */
  input: unknown = undefined;
  /** The response, as procedures set its status and headers. */
  readonly response = new OutgoingResponse();
  kind: PolicyContext['kind'] = 'request';
  /** What the protocol has read for the policies. */
  target: Target = noTarget;
  /** Data of the service's policies. */
  data: object = noData;
  /** The challenges of a 401. */
  challenges: readonly string[] | undefined = undefined;
  /** The value of the `RateLimit` header. */
  rateLimit: string | undefined = undefined;

  /** The called procedure; in a batch, paths joined by commas. */
  operation: string | undefined = undefined;
  /** The existing procedures that were called, one per call, if that is not `operation` alone. */
  calledPaths: readonly string[] | undefined = undefined;
  /** The number of calls in the request. */
  calls = 1;
  /** The last unexpected error (5xx). */
  error: unknown = undefined;
  /** All calls that failed unexpectedly. */
  failedCalls: readonly FailedCall[] = noFailedCalls;
  /** The limit that rejected the request or one of its calls. */
  limit: Limit | undefined = undefined;

  constructor(request: HttpRequest, protocol: ProtocolName, requestId: string, startedAt: number) {
    super(request);
    this.protocol = protocol;
    this.requestId = requestId;
    this.startedAt = startedAt;
  }

  /** The called procedures, one per call. */
  get procedures(): readonly Procedure[] {
    return this.target.procedures.filter((procedure) => procedure !== undefined);
  }
}

/** A policy of the gateway, which sees the whole state of a request. */
export type RequestPolicy<Identity = unknown> = PolicyFor<RequestScope<Identity>, OutgoingResponse>;

const noParameters: readonly never[] = [];
const noTarget: Target = { procedures: [], callCount: 1, isPublic: false };
/** Shared, since only the policies of the service write data. */
const noData: object = Object.freeze({});
const noFailedCalls: readonly FailedCall[] = [];
