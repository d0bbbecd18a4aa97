import type { CredentialWatch } from '../auth/credentialWatch.ts';
import type { CallRunner } from '../calls/callRunner.ts';
import type { AllLimits } from '../calls/limits.ts';
import type { ToError } from '../calls/mapError.ts';
import type { ReportError } from '../calls/reportError.ts';
import type { EventStreamTimes } from '../http/serverSentEvents.ts';
import type { LinkBase } from '../operations/deprecation.ts';
import type { Operation } from '../operations/operation.ts';
import type { Idempotency } from '../policies/idempotency.ts';
import type { ContextOptions } from '../procedures/contextOptions.ts';
import type { Procedure } from '../procedures/procedure.ts';
import type { Paths } from './paths.ts';

/** What every protocol receives from the gateway: what it serves, and how calls run. Each extends it by what it needs. */
export interface ProtocolSettings {
  /** The procedures of the router by path, in its order. */
  readonly procedures: ReadonlyMap<string, Procedure>;
  readonly operations: readonly Operation[];
  readonly paths: Paths;
  readonly links: LinkBase;
  readonly limits: AllLimits;
  readonly calls: CallRunner;
  /** Stores responses to idempotency keys; `undefined` if no procedure takes a key. */
  readonly idempotency: Idempotency | undefined;
  /** Watches whether the credential of an open stream or socket stays valid. */
  readonly watch: CredentialWatch;
  readonly eventTimes: EventStreamTimes;
  readonly reportError: ReportError | undefined;
  readonly toError: ToError;
  /** Creates the context of calls. It may throw, and it may return a promise. */
  // A method, since its parameter is bivariant: functions for any type of identity and data are assignable.
  createContext(options: ContextOptions<unknown>): unknown;
}
