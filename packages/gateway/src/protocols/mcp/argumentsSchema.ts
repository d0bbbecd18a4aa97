import { formatValue } from '../../http/formatValue.ts';
import {
  acceptsUndefined,
  details,
  innermost,
  isAlwaysAbsent,
  maxDepth,
  membersOf,
  type Properties,
  type Schema,
  valuesOf,
} from '../../operations/schema.ts';
import { inline, writeJsonSchema, type JsonSchema } from './jsonSchema.ts';

/**
 * Writes the schema of the arguments of a tool: an object with all properties. A union or an intersection is never at its
 * top, where the APIs of models reject it (those of Anthropic and OpenAI, with every request of the session). Each property
 * accepts what it accepts in any member, and the description says which belong together; the procedure's own schema decides.
 * @param inputs the inputs of the procedure, which may be a chain
 */
export function argumentsSchema(
  inputs: readonly Schema[],
  { shape, others, isUnion }: Properties,
): JsonSchema {
  const [only = {}, ...more] = inputs.map((input) => inline(input));
  const { allOf, anyOf, oneOf, ...own } = only;
  if (more.length === 0 && !allOf && !anyOf && !oneOf) return { type: 'object', ...writeJsonSchema(only) };
  // Of a chain, no part describes the whole.
  const kept: Schema = more.length === 0 ? own : {};
  const required = Object.keys(shape).filter((name) => !acceptsUndefined(shape[name] ?? {}));
  const description = [kept.description, combinationsText(combinationsOf({ allOf: inputs }))]
    .filter(Boolean)
    .join(' ');
  const { additionalProperties: _others, ...flat } = kept;
  return {
    ...writeJsonSchema({
      ...flat,
      [details]: {},
      properties: shape,
      ...(required.length > 0 && { required }),
      // A member of a union without them ignores other properties.
      ...(others && !isUnion && { additionalProperties: others }),
    }),
    type: 'object',
    ...(description !== '' && { description }),
  };
}

/** Properties that belong together, by name. */
type Combination = ReadonlyMap<string, { readonly schema: Schema; readonly isOptional: boolean }>;

/** The most combinations that the description lists. */
const maxCombinations = 20;

/** Returns the combinations of properties that a schema accepts; `undefined` for more than `maxCombinations`. */
function combinationsOf(schema: Schema, depth = 0): readonly Combination[] | undefined {
  const inner = depth > maxDepth ? undefined : innermost(schema);
  if (inner === undefined) return undefined;
  const { allOf = [], properties = {} } = inner;
  const own: Combination = new Map(
    Object.entries(properties).map(([name, property]) => [
      name,
      { schema: property, isOptional: acceptsUndefined(property) },
    ]),
  );
  let combinations: readonly Combination[] | undefined = [own];
  for (const part of allOf) combinations = combine(combinations, combinationsOf(part, depth + 1));
  const members = membersOf(inner)
    ?.filter((member) => !isAlwaysAbsent(member))
    .map((member) => combinationsOf(member, depth + 1));
  if (members)
    combinations = combine(
      combinations,
      members.every((each) => each !== undefined) ? members.flat() : undefined,
    );
  return combinations;
}

/** Combines each with each. */
function combine(
  left: readonly Combination[] | undefined,
  right: readonly Combination[] | undefined,
): readonly Combination[] | undefined {
  if (!left || !right || left.length * right.length > maxCombinations) return undefined;
  return left.flatMap((one) =>
    right.map((other) => {
      const both = new Map(one);
      for (const [name, { schema, isOptional }] of other) {
        both.set(name, { schema, isOptional: isOptional && (one.get(name)?.isOptional ?? true) });
      }
      return both;
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

function combinationText(combination: Combination): string {
  if (combination.size === 0) return 'no named ones';
  return Array.from(combination, ([name, { schema, isOptional }]) => {
    const values = valuesOf(schema);
    if (values && values.length <= maxValues) return `${name} = ${values.map(formatValue).join(' or ')}`;
    return isOptional ? `${name} (optional)` : name;
  }).join(', ');
}
