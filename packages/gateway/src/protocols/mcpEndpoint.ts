import type { Problem } from '../checks/gatewayError.ts';
import { listNames, warn } from '../http/warnings.ts';
import type { AdmitMessage } from '../policies/messageAdmission.ts';
import type { Procedure } from '../procedures/procedure.ts';
import type { ToolOption } from '../procedures/readMeta.ts';
import type { Protocol } from './protocol.ts';
import type { ProtocolSettings } from './protocolSettings.ts';

export interface McpSettings extends ProtocolSettings {
  readonly server: { readonly name: string; readonly version: string };
  /** Admits a message that was read. `undefined` if its request was admitted as a whole. */
  readonly admitMessage: AdmitMessage | undefined;
}

/** What `mcp()` of `trpc-gateway/mcp` returns. An option, so that nothing of it is loaded without use. */
export interface McpEndpoint {
  readonly path: `/${string}`;
  /** Which procedures without `mcp` in their metadata are tools. */
  readonly tools: ToolOption | undefined;
  /** Reads the tools of a router. */
  read(
    procedures: readonly Procedure[],
    maxResponseSize: number,
  ): {
    /** A line for each procedure that cannot be a tool: the reason and the fix. */
    readonly problems: readonly Problem[];
    protocol(settings: McpSettings): Protocol;
  };
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
