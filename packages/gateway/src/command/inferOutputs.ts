import type { OutputSchemas } from '../schemas/inferredOutput.ts';

/** `readOutputs` of trpc-gateway-typegen, which depends on this package. */
export type OutputReader = (location: {
  readonly file: string;
  readonly name: string | undefined;
}) => Promise<{ readonly outputs: OutputSchemas; readonly open: readonly string[] }>;

/** The most lines about types that are left open. */
const maxLines = 10;

/** Infers outputs and serves them by `use`. @returns a report: the time, what is open, what changed */
export async function inferOutputs(
  read: ReturnType<OutputReader>,
  use: (outputs: OutputSchemas) => Promise<readonly string[]>,
): Promise<string> {
  const startedAt = performance.now();
  try {
    const { open, outputs } = await read;
    const changed = await use(outputs);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const lines = open.slice(0, maxLines).map((line) => `  - ${line}`);
    if (open.length > maxLines)
      lines.push(`  - and ${open.length - maxLines} more: trpc-gateway-typegen outputs prints them`);
    const end = open.length > 0 ? ', but for:' : '.';
    const first = `Outputs have the schemas of their types, read in ${seconds} s${end}`;
    return [first, ...lines, ...(changed.length > 0 ? ['', 'Now:', ...changed] : []), ''].join('\n');
  } catch (error) {
    return `${(error as Error).message}\n`;
  }
}
