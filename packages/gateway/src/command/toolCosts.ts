import type { Gateway } from '../gateway.ts';
import { charactersPerToken } from '../protocols/mcp/toolWarnings.ts';

/** An entry of `tools/list`. */
interface ListedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: object;
  readonly outputSchema?: object;
}

const columns = ['tool', 'description', 'input', 'output', 'in all'];

/** Returns the lines of a table: how many tokens each tool of the list takes, the largest first. */
export async function toolCosts({ fetch }: Gateway): Promise<readonly string[]> {
  const response = await fetch('http://localhost/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  });
  const { result } = (await response.json()) as {
    readonly result: { readonly tools: readonly ListedTool[] };
  };
  const costs = result.tools
    .map((tool) => [tool.description, tool.inputSchema, tool.outputSchema, tool].map(tokensOf))
    .map((tokens, at) => ({ name: result.tools[at]?.name ?? '', tokens }))
    .toSorted((one, other) => (other.tokens[3] ?? 0) - (one.tokens[3] ?? 0));
  const sums = columns.slice(1).map((_, at) => costs.reduce((sum, { tokens }) => sum + (tokens[at] ?? 0), 0));
  const rows = [columns, ...costs.map(({ name, tokens }) => [name, ...tokens]), ['all', ...sums]];
  const width = Math.max(...rows.map(([name = '']) => String(name).length));
  return [
    '',
    `Tokens of the tools that a client may send with each request, estimated by ${charactersPerToken} characters of JSON each:`,
    ...rows.map(
      ([name = '', ...cells]) =>
        `  ${String(name).padEnd(width)}${cells.map((cell) => String(cell).padStart(13)).join('')}`,
    ),
  ];
}

const tokensOf = (value: unknown): number =>
  Math.ceil((JSON.stringify(value) ?? '').length / charactersPerToken);
