import type { TRPCError } from '@trpc/server';
import type { CredentialWatch } from '../auth/credentialWatch.ts';
import type { AllLimits } from '../calls/limits.ts';
import type { Target } from '../calls/policy.ts';
import type { ReportError } from '../calls/reportError.ts';
import type { RequestContext } from '../calls/requestContext.ts';
import type { MaybePromise } from '../http/maybePromise.ts';
import type { EventStreamTimes } from '../http/serverSentEvents.ts';
import type { Procedure } from '../procedures/procedures.ts';
import type { Protocol } from './protocol.ts';
import type { RunSettings } from './requestRun.ts';

/** What serving procedures as tools takes from the gateway. */
export interface McpSettings extends RunSettings {
  readonly procedures: readonly Procedure[];
  /** The name and the version by which the server identifies itself. */
  readonly server: { readonly name: string; readonly version: string };
  readonly limits: AllLimits;
  readonly eventTimes: EventStreamTimes;
  readonly watch: CredentialWatch;
  readonly reportError: ReportError | undefined;
  /**
   * Runs the policies on a call whose procedure was not known when the request was admitted. Returns the error that
   * rejects it, if any.
   */
  admitCall(context: RequestContext): MaybePromise<TRPCError | undefined>;
}

/**
 * The Model Context Protocol, which `mcp()` of `trpc-gateway/mcp` returns. It is passed as an option, so that nothing of
 * it is loaded unless it is used.
 */
export interface McpEndpoint {
  /** The path at which it is served. */
  readonly path: `/${string}`;
  /** @throws {GatewayError} with a line for each procedure that cannot be a tool */
  protocol(settings: McpSettings): Protocol<unknown, Target>;
}
