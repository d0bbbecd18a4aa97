import { isDeepStrictEqual } from 'node:util';
import type { Change } from './change.ts';
import { type ComparedDocument, resolve, type ComparedSchema } from './document.ts';

export interface SchemaComparison {
  readonly before: ComparedDocument;
  readonly after: ComparedDocument;
  /** Whether the schema describes a request of a client or a response of the service. */
  readonly direction: 'request' | 'response';
  /** Compared pairs of named schemas: each is reported once, and cycles end. */
  readonly seen: Set<string>;
}

type Keywords = Readonly<Record<string, unknown>>;

/**
 * Returns the differences between two schemas. Narrowing a request is breaking, because clients may send what they could
 * send before. Widening a response is breaking, because clients may get values that they do not know. Exception: unknown
 * fields are not breaking, because clients ignore them in responses and the service ignores them in requests.
 */
export function schemaChanges(
  comparison: SchemaComparison,
  where: string,
  before: ComparedSchema | undefined,
  after: ComparedSchema | undefined,
): Change[] {
  const { direction, seen } = comparison;
  const names = [schemaName(before), schemaName(after)];
  if (names[0] !== undefined && names[1] !== undefined) {
    const pair = `${direction} ${names.join(' ')}`;
    if (seen.has(pair)) return [];
    seen.add(pair);
    where = `${names[1]}, in ${direction}s`;
  }
  const old = keywords(comparison.before, before);
  const now = keywords(comparison.after, after);
  const changes: Change[] = [];
  const addChange = (description: string, { narrows = false, widens = false }) =>
    changes.push({
      isBreaking: direction === 'request' ? narrows : widens,
      sentence: `${where}: ${description}`,
    });
  const both = { narrows: true, widens: true };

  compareTypes(old, now, addChange);
  compareValues(old, now, addChange);
  for (const [keyword, isLower] of boundKeywords) {
    const [from, to] = [old[keyword], now[keyword]] as [number | undefined, number | undefined];
    if (from === to) continue;
    const least = isLower ? -Infinity : Infinity;
    const narrows = isLower ? (to ?? least) > (from ?? least) : (to ?? least) < (from ?? least);
    addChange(`${keyword} is ${formatKeywordValue(to)}, was ${formatKeywordValue(from)}`, {
      narrows,
      widens: !narrows,
    });
  }
  for (const keyword of restrictionKeywords) {
    const [from, to] = [old[keyword], now[keyword]];
    if (isDeepStrictEqual(from, to)) continue;
    addChange(`${keyword} is ${formatKeywordValue(to)}, was ${formatKeywordValue(from)}`, {
      narrows: to !== undefined,
      widens: from !== undefined,
    });
  }
  if ((old['uniqueItems'] === true) !== (now['uniqueItems'] === true)) {
    const narrows = now['uniqueItems'] === true;
    addChange(narrows ? 'items must be unique' : 'items need not be unique', { narrows, widens: !narrows });
  }
  if (!isDeepStrictEqual(old['default'], now['default'])) {
    // A request that omits the field has another meaning now. Responses are not affected.
    addChange(`default is ${formatKeywordValue(now['default'])}, was ${formatKeywordValue(old['default'])}`, {
      narrows: true,
    });
  }
  changes.push(...propertyChanges(comparison, where, old, now, addChange));
  changes.push(...itemChanges(comparison, where, old, now, addChange));
  for (const keyword of ['anyOf', 'oneOf', 'allOf'] as const) {
    changes.push(...branchChanges(comparison, where, keyword, old, now, addChange));
  }
  for (const keyword of new Set([...Object.keys(old), ...Object.keys(now)])) {
    if (comparedKeywords.has(keyword) || descriptiveKeywords.has(keyword) || keyword.startsWith('x-'))
      continue;
    if (!isDeepStrictEqual(old[keyword], now[keyword])) addChange(`${keyword} changed`, both);
  }
  return changes;
}

type AddChange = (
  description: string,
  effect: { readonly narrows?: boolean; readonly widens?: boolean },
) => void;

function compareTypes(old: Keywords, now: Keywords, addChange: AddChange): void {
  const [from, to] = [typesOf(old), typesOf(now)];
  const lost = from.filter((type) => !to.includes(type));
  const gained = to.filter((type) => !from.includes(type));
  if (lost.length + gained.length === 0) return;
  const list = ({ type = 'any type' }: Keywords) => [type as string | string[]].flat().join(' or ');
  addChange(`it is ${list(now)}, was ${list(old)}`, { narrows: lost.length > 0, widens: gained.length > 0 });
}

/** Returns the types of a schema: all of them without `type`. `number` counts as integer and fraction. */
function typesOf({ type }: Keywords): readonly string[] {
  const all = ['array', 'boolean', 'integer', 'null', 'fraction', 'object', 'string'];
  if (type === undefined) return all;
  return [type as string | string[]]
    .flat()
    .flatMap((each) => (each === 'number' ? ['integer', 'fraction'] : [each]));
}

function compareValues(old: Keywords, now: Keywords, addChange: AddChange): void {
  const [from, to] = [allowedValues(old), allowedValues(now)];
  if (from === undefined || to === undefined) {
    if (to !== undefined)
      addChange(`it is restricted to ${to.map(formatKeywordValue).join(', ')}`, { narrows: true });
    if (from !== undefined)
      addChange(`it is no longer restricted to ${from.map(formatKeywordValue).join(', ')}`, { widens: true });
    return;
  }
  const isIn = (list: readonly unknown[]) => (value: unknown) =>
    list.some((each) => isDeepStrictEqual(each, value));
  for (const value of from.filter((each) => !isIn(to)(each)))
    addChange(`the value ${formatKeywordValue(value)} is gone`, { narrows: true });
  for (const value of to.filter((each) => !isIn(from)(each)))
    addChange(`the value ${formatKeywordValue(value)} is new`, { widens: true });
}

const allowedValues = (schema: Keywords) =>
  'const' in schema ? [schema['const']] : (schema['enum'] as readonly unknown[] | undefined);

function propertyChanges(
  comparison: SchemaComparison,
  where: string,
  old: Keywords,
  now: Keywords,
  addChange: AddChange,
): Change[] {
  const changes: Change[] = [];
  const [from, to] = [properties(old), properties(now)];
  const [needed, needs] = [requiredFields(old), requiredFields(now)];
  for (const name of new Set([...Object.keys(from), ...needed, ...Object.keys(to), ...needs])) {
    const field = `the field \`${name}\``;
    const [was, is] = [from[name], to[name]];
    if (is === undefined && was !== undefined) {
      // Breaking in both directions: clients can neither read nor send the field.
      addChange(`${field} is gone`, { narrows: true, widens: true });
      continue;
    }
    if (was === undefined && is !== undefined) {
      addChange(`${field} is new and ${needs.has(name) ? 'required' : 'optional'}`, {
        narrows: needs.has(name),
      });
      continue;
    }
    if (needed.has(name) !== needs.has(name)) {
      const narrows = needs.has(name);
      addChange(`${field} is ${narrows ? 'required' : 'optional'}`, { narrows, widens: !narrows });
    }
    if (is !== undefined) changes.push(...schemaChanges(comparison, `${where}: \`${name}\``, was, is));
  }
  const [open, opens] = [
    old['additionalProperties'] ?? true,
    now['additionalProperties'] ?? true,
  ] as ComparedSchema[];
  if (isDeepStrictEqual(open, opens)) return changes;
  if (open === undefined || opens === undefined || typeof open === 'boolean' || typeof opens === 'boolean') {
    const narrows = opens === false || open === true;
    addChange(
      opens === false ? 'additional fields are rejected' : 'the schema of additional fields changed',
      {
        narrows,
      },
    );
    return changes;
  }
  return [...changes, ...schemaChanges(comparison, `${where}: additional fields`, open, opens)];
}

const properties = (schema: Keywords) =>
  (schema['properties'] ?? {}) as Readonly<Record<string, ComparedSchema>>;
const requiredFields = (schema: Keywords) => new Set((schema['required'] ?? []) as readonly string[]);

function itemChanges(
  comparison: SchemaComparison,
  where: string,
  old: Keywords,
  now: Keywords,
  addChange: AddChange,
): Change[] {
  const [from, to] = [old['items'], now['items']] as (ComparedSchema | undefined)[];
  if (from !== undefined && to !== undefined)
    return schemaChanges(comparison, `${where}: each item`, from, to);
  if (to !== undefined) addChange('items are restricted', { narrows: true });
  if (from !== undefined) addChange('items are no longer restricted', { widens: true });
  return [];
}

/** Compares branches. Equal ones are matched first. If one is left on each side, these two are compared. */
function branchChanges(
  comparison: SchemaComparison,
  where: string,
  keyword: 'anyOf' | 'oneOf' | 'allOf',
  old: Keywords,
  now: Keywords,
  addChange: AddChange,
): Change[] {
  const [from, to] = [old[keyword], now[keyword]].map((list) => (list ?? []) as readonly ComparedSchema[]);
  if (from === undefined || to === undefined) return [];
  const lost = from.filter((branch) => !to.some((each) => isDeepStrictEqual(each, branch)));
  const gained = to.filter((branch) => !from.some((each) => isDeepStrictEqual(each, branch)));
  const same = to.filter((branch) => !gained.includes(branch));
  const changes = same.flatMap((branch) => schemaChanges(comparison, `${where}: ${keyword}`, branch, branch));
  const [was] = lost;
  const [is] = gained;
  if (lost.length === 1 && gained.length === 1)
    return [...changes, ...schemaChanges(comparison, `${where}: ${keyword}`, was, is)];
  // An additional branch of `allOf` is an additional condition, and so is the first branch of `anyOf` or `oneOf`.
  const isCondition = keyword === 'allOf';
  const begins = from.length === 0;
  const ends = to.length === 0;
  if (gained.length > 0)
    addChange(`${keyword} has ${gained.length} more`, {
      narrows: isCondition || begins,
      widens: !isCondition && !begins,
    });
  if (lost.length > 0)
    addChange(`${keyword} has ${lost.length} fewer`, {
      narrows: !isCondition && !ends,
      widens: isCondition || ends,
    });
  return changes;
}

/** Returns the keywords of a schema. Keywords next to a `$ref` override those of its target. */
function keywords(document: ComparedDocument, schema: ComparedSchema | undefined): Keywords {
  if (schema === undefined || schema === true) return {};
  if (schema === false) return { not: {} };
  if (!('$ref' in schema)) return schema;
  const { $ref, ...beside } = schema;
  return { ...keywords(document, resolve<ComparedSchema>(document, { $ref: String($ref) })), ...beside };
}

function schemaName(schema: ComparedSchema | undefined): string | undefined {
  if (typeof schema !== 'object' || typeof schema['$ref'] !== 'string') return undefined;
  return schema['$ref'].split('/').at(-1);
}

const formatKeywordValue = (value: unknown) => (value === undefined ? 'not set' : JSON.stringify(value));

/** Keywords that bound a quantity, and whether they are lower bounds. */
const boundKeywords = [
  ['minimum', true],
  ['exclusiveMinimum', true],
  ['minLength', true],
  ['minItems', true],
  ['minProperties', true],
  ['maximum', false],
  ['exclusiveMaximum', false],
  ['maxLength', false],
  ['maxItems', false],
  ['maxProperties', false],
] as const;

/** Keywords that restrict values. Their own values cannot be compared. */
const restrictionKeywords = ['pattern', 'format', 'multipleOf'] as const;

const comparedKeywords: ReadonlySet<string> = new Set<string>([
  'type',
  'enum',
  'const',
  'uniqueItems',
  'default',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'anyOf',
  'oneOf',
  'allOf',
  ...boundKeywords.map(([keyword]) => keyword),
  ...restrictionKeywords,
]);

/** Keywords for readers only. */
const descriptiveKeywords: ReadonlySet<string> = new Set([
  'title',
  'description',
  'example',
  'examples',
  'deprecated',
  '$comment',
  'externalDocs',
  'xml',
]);
