import type { Gateway } from '../gateway.ts';
import type { AnyGatewayOptions } from '../assembly/options.ts';
import type { OutputSchemas } from '../schemas/inferredOutput.ts';
import { createPartialGateway } from './partialGateway.ts';
import { findInstalled } from './routerModule.ts';

/** `readOutputs` of trpc-gateway-typegen, which depends on this package. */
type OutputReader = (location: {
  readonly file: string;
  readonly name: string | undefined;
}) => Promise<{ readonly outputs: OutputSchemas; readonly open: readonly string[] }>;

/** Returns what reads the types of outputs; `undefined` if it is not installed beside a file. */
export async function findOutputReader(file: string): Promise<OutputReader | undefined> {
  const typegen = findInstalled('trpc-gateway-typegen', file);
  if (typegen === undefined) return undefined;
  const { readOutputs } = (await import(typegen)) as { readonly readOutputs: OutputReader };
  return readOutputs;
}

/** The most lines about types that are left open. */
const maxLines = 10;

/**
 * Describes the outputs of a gateway that serves already by their types.
 * @returns the text to print: how long it took, and what is left open
 */
export async function inferOutputs(
  gateway: Gateway,
  options: AnyGatewayOptions,
  read: OutputReader,
  location: Parameters<OutputReader>[0],
): Promise<string> {
  const startedAt = performance.now();
  try {
    const { open, outputs } = await read(location);
    const described = await createPartialGateway({ ...options, outputs });
    await described.gateway.document();
    // Servers call its functions anew for each request.
    Object.assign(gateway, described.gateway);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const lines = open.slice(0, maxLines).map((line) => `  - ${line}`);
    if (open.length > maxLines)
      lines.push(`  - and ${open.length - maxLines} more: trpc-gateway-typegen outputs prints them`);
    const end = open.length > 0 ? ', but for:' : '.';
    return [`Outputs have the schemas of their types, read in ${seconds} s${end}`, ...lines, ''].join('\n');
  } catch (error) {
    return `The types of outputs cannot be read: ${error instanceof Error ? error.message : String(error)}\n`;
  }
}
