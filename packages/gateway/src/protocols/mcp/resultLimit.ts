/* Models read results whole. A long list is cut at a whole element, and says how to get the rest. */
import { utf8Length } from '../../http/response.ts';
import { isContainer } from '../../http/isObject.ts';
import { accepts, isZod } from '../../schemas/zodSchema.ts';
import type { Procedure } from '../../procedures/procedure.ts';
import type { JsonSchema } from '../../schemas/toolSchema.ts';

/** Default of `maxResultBytes`: Claude Code takes 25,000 tokens (`MAX_MCP_OUTPUT_TOKENS`), some 80 kB of JSON. */
export const defaultMaxResultBytes = 80_000;

/** What is known at start about the results of a tool. */
export interface ResultLimit {
  /** The largest result, in bytes of UTF-8: what a model reads, once. */
  readonly maxBytes: number;
  /** The largest response, in bytes: the text is escaped, and structured content repeats it. */
  readonly maxResponseBytes: number;
  /** Whether the tool has an output schema: its results are structured content, too. */
  readonly isStructured: boolean;
  readonly procedure: Pick<Procedure, 'output' | 'type'>;
  /** The schema of the output, `{}` without one. */
  readonly schema: JsonSchema;
  /** Whether the sentence about a cut is also in the output, as `cut`. */
  readonly hasCutMember: boolean;
  /** The schemas of the arguments, by name. */
  readonly inputs: Readonly<Record<string, JsonSchema>>;
}

/** The limit that a result exceeds, and its size. */
export interface Excess {
  readonly bytes: number;
  readonly maxBytes: number;
  readonly option: 'maxResponseSize' | 'maxResultBytes';
}

const propertiesOf = ({ properties = {} }: JsonSchema) => properties as Readonly<Record<string, JsonSchema>>;

/** Returns the least length of a list (`undefined`: the output); `Infinity` if it cannot be cut (a tuple). */
function leastItems(schema: JsonSchema, property: string | undefined): number {
  if (Object.keys(schema).length === 0) return 1;
  const list = property === undefined ? schema : propertiesOf(schema)[property];
  const { contains, minItems = 1, prefixItems, type } = list ?? {};
  const isList = type === 'array' && contains === undefined && prefixItems === undefined;
  return isList ? Math.max(Number(minItems), 1) : Infinity;
}

/** Adds `cut`, what was left out, to the schema of an object with a list: some hosts read nothing but structured content. */
export function withCutMember(schema: JsonSchema): JsonSchema {
  const properties = propertiesOf(schema);
  const hasList = Object.keys(properties).some((name) => leastItems(schema, name) < Infinity);
  if (!hasList || 'cut' in properties) return schema;
  const description = 'Only if elements were left out: how many, and how to get them.';
  return { ...schema, properties: { ...properties, cut: { type: 'string', description } } };
}

/** Returns the list of an output, the output itself or its only property that is one, and the name of that property. */
function findList(output: object): readonly [list?: readonly unknown[], property?: string] {
  if (Array.isArray(output)) return [output];
  const lists = Object.entries(output).filter(([, member]) => Array.isArray(member));
  const [[property, list] = []] = lists.length === 1 ? (lists as [string, unknown[]][]) : [];
  return list ? [list, property as string] : [];
}

/**
 * Cuts the list of an output at a whole element.
 * @param args the arguments of the call
 * @returns what is left as JSON, a sentence about that, and structured content with the sentence; `undefined` if no element
 * fits, if there is no list, or if what is left does not match its schema
 */
export function cutOutput(
  output: unknown,
  { bytes, maxBytes: most }: Excess,
  limit: ResultLimit,
  args: Readonly<Record<string, unknown>> = {},
): readonly [text: string, sentence: string, structured: string] | undefined {
  const [list, property] = isContainer(output) ? findList(output) : [];
  if (list === undefined) return undefined;
  const { hasCutMember, isStructured, maxBytes, maxResponseBytes, procedure, schema } = limit;
  const where = property === undefined ? '' : ` of "${property}"`;
  const sentenceOf = (first: number) =>
    `These are the first ${first} of ${list.length} elements${where}: the result has ${bytes} bytes, and at most ${most} are sent. ${adviceFor(limit, first, args)}`;
  const cutMember = (sentence: string) => `,"cut":${JSON.stringify(sentence)}`;
  const withFirst = (first: number) =>
    property === undefined
      ? list.slice(0, first)
      : { ...(output as object), [property]: list.slice(0, first) };
  const sentBytes = (part: string) =>
    utf8Length(JSON.stringify(part).slice(1, -1)) + (isStructured ? utf8Length(part) : 0);
  // No other number of elements has a longer sentence.
  const longest = Math.max(...[0, list.length].map((first) => utf8Length(cutMember(sentenceOf(first)))));
  const empty = JSON.stringify(withFirst(0));
  let left = maxBytes - longest - utf8Length(empty);
  let leftToSend = maxResponseBytes - longest * 2 - sentBytes(empty);
  let count = 0;
  for (const element of list) {
    const part = `${JSON.stringify(element) ?? 'null'},`;
    left -= utf8Length(part);
    leftToSend -= sentBytes(part);
    if (left < 0 || leftToSend < 0) break;
    count += 1;
  }
  if (count < leastItems(schema, property)) return undefined;
  const rest = withFirst(count);
  // JSON Schema has no refinements. A schema that rejects the whole output too has a transform, and says nothing.
  const { output: parser } = procedure;
  if (isZod(parser) && !accepts(parser, rest) && accepts(parser, output)) return undefined;
  const [text, sentence] = [JSON.stringify(rest), sentenceOf(count)];
  // An object with other members than those of its schema may have its own.
  const isAdded = hasCutMember && !('cut' in rest);
  return [text, sentence, isAdded ? `${text.slice(0, -1)}${cutMember(sentence)}}` : text];
}

const ran = 'The call has run, so do not repeat it';

/** Returns what is wrong with a result that is too large and cannot be cut, and what to do. */
export function tooLargeText({ bytes, maxBytes, option }: Excess, limit: ResultLimit): string {
  const text = `Its result is left out: it has ${bytes} bytes, and at most ${maxBytes} are sent (${option}).`;
  return limit.procedure.type === 'mutation' ? `${ran}. ${text}` : `${text} ${adviceFor(limit, 0, {})}`;
}

/** The names of inputs that select a part of a list, as APIs have them. */
const sizeNames = ['limit', 'first', 'take', 'pageSize', 'page_size', 'perPage', 'per_page', 'maxResults'];
const offsetNames = ['offset', 'skip'];
const pageNames = ['cursor', 'after', 'pageToken', 'page_token', 'page'];

/** Returns how to get the elements that were left out, by the inputs of the tool. @param count of those that were sent */
function adviceFor(
  { inputs, procedure }: ResultLimit,
  count: number,
  args: Readonly<Record<string, unknown>>,
): string {
  if (procedure.type === 'mutation') return `${ran} for the rest.`;
  const names = Object.keys(inputs);
  const [offset, page, size] = [offsetNames, pageNames, sizeNames].map((known) =>
    known.find((name) => names.includes(name)),
  );
  if (offset !== undefined && count > 0) {
    const start = Number(args[offset] ?? inputs[offset]?.['default'] ?? 0);
    return `For the rest, repeat the call with ${offset}: ${start + count}.`;
  }
  const least = size === undefined ? Infinity : Number(inputs[size]?.['minimum'] ?? 1);
  if (page !== undefined && count >= Math.max(least, 1)) {
    const start = page === 'page' ? ' from the first page on' : '';
    return `For all of them, repeat the call${start} with ${size}: ${count}, and continue with ${page}.`;
  }
  if (names.length === 0) return 'The tool has no inputs that select less.';
  return `Request less, with its inputs: ${names.join(', ')}.`;
}
