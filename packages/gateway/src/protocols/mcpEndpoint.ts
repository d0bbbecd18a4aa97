import type { TRPCError } from '@trpc/server';
import type { CredentialWatch } from '../auth/credentialWatch.ts';
import type { AllLimits } from '../calls/limits.ts';
import type { Target } from '../calls/policy.ts';
import type { ReportError } from '../calls/reportError.ts';
import type { RequestContext } from '../calls/requestContext.ts';
import type { MaybePromise } from '../http/maybePromise.ts';
import { listNames, warn } from '../http/warnings.ts';
import type { Procedure } from '../procedures/procedures.ts';
import type { Protocol } from './protocol.ts';
import type { RunSettings } from './requestRun.ts';

/** What serving procedures as tools takes from the gateway. */
export interface McpSettings extends RunSettings {
  readonly procedures: readonly Procedure[];
  /** The name and the version by which the server identifies itself. */
  readonly server: { readonly name: string; readonly version: string };
  readonly limits: AllLimits;
  /** The interval of pings of subscriptions, in milliseconds. */
  readonly pingMs: number | undefined;
  readonly watch: CredentialWatch;
  readonly reportError: ReportError | undefined;
  /**
   * Runs the policies of the service on a message that was read. For a tool that the head of the request did not name, it
   * takes the rest of its cost from the rate limit. Returns the error that rejects the message, if any.
   * @param target that of the called tool
   */
  admitMessage(context: RequestContext, target: Target | undefined): MaybePromise<TRPCError | undefined>;
}

/**
 * The Model Context Protocol, which `mcp()` of `trpc-gateway/mcp` returns. It is passed as an option, so that nothing of
 * it is loaded unless it is used.
 */
export interface McpEndpoint {
  /** The path at which it is served. */
  readonly path: `/${string}`;
  /** Returns a line for each procedure that cannot be a tool: the reason and the fix. */
  problems(procedures: readonly Procedure[]): readonly string[];
  /** @throws {GatewayError} with a line for each procedure that cannot be a tool */
  protocol(settings: McpSettings): Protocol<unknown, Target>;
}

/** Writes a line for procedures that would be tools, if the gateway had the option `mcp`. */
export function warnOfUnservedTools(procedures: readonly Procedure[]): void {
  // With `enabled`, trpc-to-mcp may serve it.
  const unserved = procedures.filter(({ mcp }) => mcp && mcp.enabled === undefined);
  if (unserved.length === 0) return;
  warn(
    `these procedures have mcp in their metadata, but createGateway has no option mcp, so there are no tools: ${listNames(unserved.map(({ path }) => path))}. Add mcp: mcp(), which trpc-gateway/mcp exports, or remove the metadata.`,
  );
}
