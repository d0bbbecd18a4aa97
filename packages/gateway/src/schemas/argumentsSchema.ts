import { formatValue } from '../http/formatValue.ts';
import {
  acceptsUndefined,
  innermost,
  isAlwaysAbsent,
  isVoid,
  maxDepth,
  membersOf,
  type Schema,
  valuesOf,
} from './schema.ts';
import { inline, writeJsonSchema, type JsonSchema } from './toolSchema.ts';
import { inputProperties } from './properties.ts';

/** How the arguments of a tool carry the input of its procedure. */
export interface Arguments {
  readonly schema: JsonSchema;
  /** Whether the input is the argument `input`, since it may be something else than an object. */
  readonly isWrapped: boolean;
}

/** The argument that is the input of a procedure whose input is no object. */
export const wrapper = 'input';

/** The keywords that APIs of models reject at the top of a schema, those of Anthropic and OpenAI with every request. */
const combinators = ['$ref', 'allOf', 'anyOf', 'const', 'else', 'enum', 'if', 'not', 'oneOf', 'then'];

/**
 * Writes the schema of the arguments of a tool: an object with `properties`, and without a combinator at its top. Of a union
 * or an intersection, it has all properties; each accepts what it accepts in any member, and the description says which
 * belong together. An input that may be no object is the argument `input`. The procedure's own schema decides.
 * @param inputs the inputs of the procedure, which may be a chain
 */
export function readArguments(inputs: readonly Schema[]): Arguments {
  const properties = inputProperties(inputs, 'arguments');
  if (properties === undefined) return { schema: wrapped(inputs), isWrapped: true };
  const [only = {}, ...more] = inputs.map((input) => inline(input));
  const { allOf, anyOf, oneOf, title, description: own } = only as Schema & { readonly title?: string };
  if (more.length === 0 && !allOf && !anyOf && !oneOf) {
    const written: Record<string, unknown> = { ...writeJsonSchema(only) };
    for (const keyword of combinators) delete written[keyword];
    // The API of OpenAI requires `properties`.
    return {
      schema: { ...written, type: 'object', properties: written['properties'] ?? {} },
      isWrapped: false,
    };
  }
  const { ignoresOthers, others, shape } = properties;
  const required = Object.keys(shape).filter((name) => !acceptsUndefined(shape[name] ?? {}));
  // Of a chain, no part describes the whole.
  const ownText = more.length === 0 ? own : undefined;
  const description = [ownText, combinationsText(combinationsOf({ allOf: inputs }))]
    .filter(Boolean)
    .join(' ');
  const flat = writeJsonSchema({
    ...(title !== undefined && more.length === 0 && { title }),
    ...(description !== '' && { description }),
    type: 'object',
    properties: shape,
    ...(required.length > 0 && { required }),
    ...(!ignoresOthers && { additionalProperties: others ?? false }),
  });
  return { schema: flat, isWrapped: false };
}

function wrapped(inputs: readonly Schema[]): JsonSchema {
  const [only = {}, ...more] = inputs;
  return writeJsonSchema({
    type: 'object',
    properties: { [wrapper]: more.length === 0 ? only : { allOf: inputs } },
    ...(!inputs.every(mayBeAbsent) && { required: [wrapper] }),
    additionalProperties: false,
  });
}

/** Whether an input accepts `undefined`, which a client sends as no argument. */
export const mayBeAbsent = (input: Schema): boolean =>
  acceptsUndefined(input) ||
  isVoid(input) ||
  (valuesOf(input)?.includes(undefined) ?? false) ||
  (input.anyOf ?? input.oneOf ?? []).some((member) => mayBeAbsent(member));

/** Properties that belong together. */
interface Combination {
  readonly properties: ReadonlyMap<string, { readonly schema: Schema; readonly isOptional: boolean }>;
  /** The descriptions of the members of unions that it combines. */
  readonly notes: readonly string[];
}

/** The most combinations that the description lists. */
const maxCombinations = 20;

/** Returns the combinations of properties that a schema accepts; `undefined` for more than `maxCombinations`. */
function combinationsOf(schema: Schema, depth = 0): readonly Combination[] | undefined {
  const inner = depth > maxDepth ? undefined : innermost(schema);
  if (inner === undefined) return undefined;
  const { allOf = [], properties = {} } = inner;
  const own = Object.entries(properties).map(
    ([name, property]) => [name, { schema: property, isOptional: acceptsUndefined(property) }] as const,
  );
  let combinations: readonly Combination[] | undefined = [{ properties: new Map(own), notes: [] }];
  for (const part of allOf) combinations = combine(combinations, combinationsOf(part, depth + 1));
  const members = membersOf(inner)
    ?.filter((member) => !isAlwaysAbsent(member))
    .map((member) => withNote(member, combinationsOf(member, depth + 1)));
  if (members) {
    const all = members.every((each) => each !== undefined) ? members.flat() : undefined;
    combinations = combine(combinations, all);
  }
  return combinations;
}

/** Adds the description of a member of a union to its combinations. */
function withNote(member: Schema, combinations: readonly Combination[] | undefined) {
  const { description } = inline(member);
  if (description === undefined) return combinations;
  return combinations?.map(({ notes, properties }) => ({ properties, notes: [description, ...notes] }));
}

function combine(
  left: readonly Combination[] | undefined,
  right: readonly Combination[] | undefined,
): readonly Combination[] | undefined {
  if (!left || !right || left.length * right.length > maxCombinations) return undefined;
  return left.flatMap((one) =>
    right.map((other) => {
      const properties = new Map(one.properties);
      for (const [name, { schema, isOptional }] of other.properties) {
        properties.set(name, {
          schema,
          isOptional: isOptional && (one.properties.get(name)?.isOptional ?? true),
        });
      }
      return { properties, notes: [...one.notes, ...other.notes] };
    }),
  );
}

/** The longest list of combinations, in characters: a model reads it with each request. */
const maxTextLength = 2000;

/** Says which properties belong together; nothing if there is one combination only. */
function combinationsText(combinations: readonly Combination[] | undefined): string {
  const texts = new Set(combinations?.map(combinationText));
  if (texts.size === 1) return '';
  const list = [...texts].join('; ');
  return texts.size === 0 || list.length > maxTextLength
    ? 'The server checks which properties belong together.'
    : `Its properties are those of one of: ${list}.`;
}

/** The most values of a property that are written, such as those of a discriminator. */
const maxValues = 3;

function combinationText({ notes, properties }: Combination): string {
  const named = Array.from(properties, ([name, { schema, isOptional }]) => {
    const values = valuesOf(schema);
    if (values && values.length <= maxValues) return `${name} = ${values.map(formatValue).join(' or ')}`;
    return isOptional ? `${name} (optional)` : name;
  });
  const text = named.length > 0 ? named.join(', ') : 'any names';
  return notes.length > 0 ? `${text} (${notes.join(' ')})` : text;
}
