import { listNames } from '../../http/warnings.ts';
import type { JsonSchema } from '../../schemas/toolSchema.ts';
import type { ResultLimit } from './resultLimit.ts';

/** What a model and its client read of a tool. */
interface ListedTool {
  readonly name: string;
  readonly isDescribed: boolean;
  readonly limit: Pick<ResultLimit, 'maxBytes' | 'schema'>;
  /** The entry of the list of tools, as JSON. */
  readonly entry: string;
}

/** Characters of JSON for each token, an estimate for the tokenizers of Anthropic, OpenAI and Google. */
export const charactersPerToken = 4;

/** Lists above this size are reported, in tokens: 20 to 50 tools. Models choose worse among more. */
const maxTokens = 10_000;

/** The number of tools that the line about a large list names. */
const namedTools = 3;

// The names that the APIs of Anthropic, OpenAI and Google all accept: docs/mcp.md, "What the APIs of models accept".
const portableName = /^[a-zA-Z_][\w-]{0,63}$/;
/** Of properties at the top; those below may have any name. */
const portableProperty = /^[a-zA-Z_]\w{0,63}$/;

/** Returns a sentence for what is wrong with the list of tools, so that models use them badly or not at all. */
export function toolWarnings(tools: readonly ListedTool[]): readonly string[] {
  if (tools.length === 0) {
    return [
      "mcp() serves no tool, since no procedure has mcp in its metadata. Add mcp: { description: '…' } to each that is a tool, or choose them in mcp({ tools: ({ path }) => … }).",
    ];
  }
  const sentences: string[] = [];
  const undescribed = tools.filter(({ isDescribed }) => !isDescribed).map(({ name }) => name);
  if (undescribed.length > 0) {
    sentences.push(
      `a model chooses a tool by its description, which these tools do not have: ${listNames(undescribed)}. Add mcp: { description: '…' }.`,
    );
  }
  const unportable = tools.filter(({ name }) => !portableName.test(name)).map(({ name }) => name);
  if (unportable.length > 0) {
    sentences.push(
      `APIs of models reject these names of tools: ${listNames(unportable)}. Use at most 64 letters, digits, "_" and "-", the first of them a letter or "_", with mcp: { name: … }.`,
    );
  }
  const misnamed = tools.flatMap(({ entry, name }) => {
    const { inputSchema } = JSON.parse(entry) as { readonly inputSchema: { readonly properties?: object } };
    const names = Object.keys(inputSchema.properties ?? {}).filter((each) => !portableProperty.test(each));
    return names.map((each) => `"${each}" of ${name}`);
  });
  if (misnamed.length > 0) {
    sentences.push(
      `APIs of models reject these names of properties: ${listNames(misnamed)}. Use at most 64 letters, digits and "_", the first of them no digit.`,
    );
  }
  const large = tools.filter(({ limit }) => declaredBytes(limit.schema) > limit.maxBytes);
  if (large.length > 0) {
    sentences.push(
      `by their schemas, outputs of these tools may be larger than maxResultBytes, and are then cut, or errors: ${listNames(large.map(({ name }) => name))}. Declare less, or set mcp: { maxResultBytes: … }.`,
    );
  }
  const tokens = estimateTokens(tools.map(({ entry }) => entry).join(''));
  if (tokens > maxTokens) {
    const largest = tools.toSorted((one, other) => other.entry.length - one.entry.length);
    const named = largest.slice(0, namedTools).map((tool) => `${tool.name} (${estimateTokens(tool.entry)})`);
    sentences.push(
      `the list of ${tools.length} tools has about ${tokens} tokens (its JSON has ${charactersPerToken} characters for each), which most clients send to the model with each request. Choose fewer in mcp({ tools: ({ path }) => … }), or with scopes; the largest are ${named.join(', ')}.`,
    );
  }
  return sentences;
}

/** Returns the size of the largest value that a schema allows, in bytes, without what has no limit in it. */
function declaredBytes({ items, maxItems = 0, maxLength = 0, properties = {} }: JsonSchema): number {
  const members = Object.values(properties as Readonly<Record<string, JsonSchema>>).map(declaredBytes);
  const elements = items ? Number(maxItems) * declaredBytes(items as JsonSchema) : 0;
  return members.reduce((sum, each) => sum + each, Number(maxLength) + elements);
}

export const estimateTokens = (json: string): number => Math.ceil(json.length / charactersPerToken);
