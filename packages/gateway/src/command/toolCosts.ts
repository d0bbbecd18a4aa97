import type { Gateway } from '../gateway.ts';
import { charactersPerToken, estimateTokens } from '../protocols/mcp/toolWarnings.ts';

interface ListedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: object;
  readonly outputSchema?: object;
}

const headings = ['description', 'input', 'output', 'in all'];

/** Returns the lines of a table: the tokens of each tool, the largest first. */
export async function toolCosts({ fetch }: Gateway): Promise<readonly string[]> {
  const response = await fetch('http://localhost/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  });
  const { result } = (await response.json()) as {
    readonly result: { readonly tools: readonly ListedTool[] };
  };
  const tools = result.tools.toSorted((one, other) => tokensOf(other) - tokensOf(one));
  const costs = tools.map((tool) =>
    [tool.description, tool.inputSchema, tool.outputSchema, tool].map(tokensOf),
  );
  const sums = headings.map((_, at) => costs.reduce((sum, tokens) => sum + (tokens[at] ?? 0), 0));
  const width = Math.max(...tools.map(({ name }) => name.length), 'tool'.length);
  const row = (name: string, cells: readonly (string | number)[]) =>
    `  ${name.padEnd(width)}${cells.map((cell) => String(cell).padStart(13)).join('')}`;
  return [
    '',
    `Tokens of the tools that a client may send with each request, estimated by ${charactersPerToken} characters of JSON each:`,
    row('tool', headings),
    ...tools.map(({ name }, at) => row(name, costs[at] ?? [])),
    row('all', sums),
  ];
}

const tokensOf = (value: unknown): number => estimateTokens(JSON.stringify(value) ?? '');
