import { isDeepStrictEqual } from 'node:util';
import type { Change } from './change.ts';
import { type Document, resolve, type Schema } from './document.ts';

export interface SchemaComparison {
  readonly before: Document;
  readonly after: Document;
  /** Who writes what the schema describes: a client's request, or the service's answer. */
  readonly direction: 'request' | 'answer';
  /** The pairs of named schemas that were compared: each is told of once, and a circle ends. */
  readonly seen: Set<string>;
}

type Keywords = Readonly<Record<string, unknown>>;

/**
 * How one schema differs from another. A request may always say what it could say before, so it must not be narrowed; an
 * answer may only say what was known before, so it must not be widened. Two exceptions, which are every client's duty
 * here: a field that it does not know is ignored, be it in an answer or, by the service, in a request.
 */
export function schemaChanges(
  comparison: SchemaComparison,
  where: string,
  before: Schema | undefined,
  after: Schema | undefined,
): Change[] {
  const { direction, seen } = comparison;
  const names = [nameOf(before), nameOf(after)];
  if (names[0] !== undefined && names[1] !== undefined) {
    const pair = `${direction} ${names.join(' ')}`;
    if (seen.has(pair)) return [];
    seen.add(pair);
    where = `${names[1]}, in ${direction}s`;
  }
  const old = keywords(comparison.before, before);
  const now = keywords(comparison.after, after);
  const changes: Change[] = [];
  const say = (words: string, { narrows = false, widens = false }) =>
    changes.push({
      isBreaking: direction === 'request' ? narrows : widens,
      sentence: `${where}: ${words}`,
    });
  const both = { narrows: true, widens: true };

  compareTypes(old, now, say);
  compareValues(old, now, say);
  for (const [keyword, isLower] of bounds) {
    const [from, to] = [old[keyword], now[keyword]] as [number | undefined, number | undefined];
    if (from === to) continue;
    const least = isLower ? -Infinity : Infinity;
    const narrows = isLower ? (to ?? least) > (from ?? least) : (to ?? least) < (from ?? least);
    say(`${keyword} is ${inWords(to)}, was ${inWords(from)}`, { narrows, widens: !narrows });
  }
  for (const keyword of restrictions) {
    const [from, to] = [old[keyword], now[keyword]];
    if (isDeepStrictEqual(from, to)) continue;
    say(`${keyword} is ${inWords(to)}, was ${inWords(from)}`, {
      narrows: to !== undefined,
      widens: from !== undefined,
    });
  }
  if ((old['uniqueItems'] === true) !== (now['uniqueItems'] === true)) {
    const narrows = now['uniqueItems'] === true;
    say(narrows ? 'items must be unique' : 'items need not be unique', { narrows, widens: !narrows });
  }
  if (!isDeepStrictEqual(old['default'], now['default'])) {
    // A request that leaves it out means something else now. An answer says what it says.
    say(`default is ${inWords(now['default'])}, was ${inWords(old['default'])}`, { narrows: true });
  }
  changes.push(...propertyChanges(comparison, where, old, now, say));
  changes.push(...itemChanges(comparison, where, old, now, say));
  for (const keyword of ['anyOf', 'oneOf', 'allOf'] as const) {
    changes.push(...branchChanges(comparison, where, keyword, old, now, say));
  }
  for (const keyword of new Set([...Object.keys(old), ...Object.keys(now)])) {
    if (judged.has(keyword) || wording.has(keyword) || keyword.startsWith('x-')) continue;
    if (!isDeepStrictEqual(old[keyword], now[keyword])) say(`${keyword} changed`, both);
  }
  return changes;
}

type Say = (words: string, effect: { readonly narrows?: boolean; readonly widens?: boolean }) => void;

function compareTypes(old: Keywords, now: Keywords, say: Say): void {
  const [from, to] = [types(old), types(now)];
  const lost = from.filter((type) => !to.includes(type));
  const gained = to.filter((type) => !from.includes(type));
  if (lost.length + gained.length === 0) return;
  const list = ({ type = 'any type' }: Keywords) => [type as string | string[]].flat().join(' or ');
  say(`it is ${list(now)}, was ${list(old)}`, { narrows: lost.length > 0, widens: gained.length > 0 });
}

/** The types of a schema, one without `type` having all; an integer is a number too. */
function types({ type }: Keywords): readonly string[] {
  const all = ['array', 'boolean', 'integer', 'null', 'fraction', 'object', 'string'];
  if (type === undefined) return all;
  return [type as string | string[]]
    .flat()
    .flatMap((each) => (each === 'number' ? ['integer', 'fraction'] : [each]));
}

function compareValues(old: Keywords, now: Keywords, say: Say): void {
  const [from, to] = [values(old), values(now)];
  if (from === undefined || to === undefined) {
    if (to !== undefined) say(`only ${to.map(inWords).join(', ')} may be said`, { narrows: true });
    if (from !== undefined) say(`more than ${from.map(inWords).join(', ')} may be said`, { widens: true });
    return;
  }
  const isIn = (list: readonly unknown[]) => (value: unknown) =>
    list.some((each) => isDeepStrictEqual(each, value));
  for (const value of from.filter((each) => !isIn(to)(each)))
    say(`the value ${inWords(value)} is gone`, { narrows: true });
  for (const value of to.filter((each) => !isIn(from)(each)))
    say(`the value ${inWords(value)} is new`, { widens: true });
}

const values = (schema: Keywords) =>
  'const' in schema ? [schema['const']] : (schema['enum'] as readonly unknown[] | undefined);

function propertyChanges(
  comparison: SchemaComparison,
  where: string,
  old: Keywords,
  now: Keywords,
  say: Say,
): Change[] {
  const changes: Change[] = [];
  const [from, to] = [properties(old), properties(now)];
  const [needed, needs] = [required(old), required(now)];
  for (const name of new Set([...Object.keys(from), ...needed, ...Object.keys(to), ...needs])) {
    const field = `the field \`${name}\``;
    const [was, is] = [from[name], to[name]];
    if (is === undefined && was !== undefined) {
      // Whoever relied on it: a reader finds it no more, a writer is not heard.
      say(`${field} is gone`, { narrows: true, widens: true });
      continue;
    }
    if (was === undefined && is !== undefined) {
      say(`${field} is new and ${needs.has(name) ? 'required' : 'optional'}`, { narrows: needs.has(name) });
      continue;
    }
    if (needed.has(name) !== needs.has(name)) {
      const narrows = needs.has(name);
      say(`${field} is ${narrows ? 'required' : 'optional'}`, { narrows, widens: !narrows });
    }
    if (is !== undefined) changes.push(...schemaChanges(comparison, `${where}: \`${name}\``, was, is));
  }
  const [open, opens] = [
    old['additionalProperties'] ?? true,
    now['additionalProperties'] ?? true,
  ] as Schema[];
  if (isDeepStrictEqual(open, opens)) return changes;
  if (open === undefined || opens === undefined || typeof open === 'boolean' || typeof opens === 'boolean') {
    const narrows = opens === false || open === true;
    say(opens === false ? 'further fields are refused' : 'what further fields may be has changed', {
      narrows,
    });
    return changes;
  }
  return [...changes, ...schemaChanges(comparison, `${where}: further fields`, open, opens)];
}

const properties = (schema: Keywords) => (schema['properties'] ?? {}) as Readonly<Record<string, Schema>>;
const required = (schema: Keywords) => new Set((schema['required'] ?? []) as readonly string[]);

function itemChanges(
  comparison: SchemaComparison,
  where: string,
  old: Keywords,
  now: Keywords,
  say: Say,
): Change[] {
  const [from, to] = [old['items'], now['items']] as (Schema | undefined)[];
  if (from !== undefined && to !== undefined)
    return schemaChanges(comparison, `${where}: each item`, from, to);
  if (to !== undefined) say('items are restricted', { narrows: true });
  if (from !== undefined) say('items are no longer restricted', { widens: true });
  return [];
}

/** Branches are matched where they are the same; where one on each side is left, those two are compared. */
function branchChanges(
  comparison: SchemaComparison,
  where: string,
  keyword: 'anyOf' | 'oneOf' | 'allOf',
  old: Keywords,
  now: Keywords,
  say: Say,
): Change[] {
  const [from, to] = [old[keyword], now[keyword]].map((list) => (list ?? []) as readonly Schema[]);
  if (from === undefined || to === undefined) return [];
  const lost = from.filter((branch) => !to.some((each) => isDeepStrictEqual(each, branch)));
  const gained = to.filter((branch) => !from.some((each) => isDeepStrictEqual(each, branch)));
  const same = to.filter((branch) => !gained.includes(branch));
  const changes = same.flatMap((branch) => schemaChanges(comparison, `${where}: ${keyword}`, branch, branch));
  const [was] = lost;
  const [is] = gained;
  if (lost.length === 1 && gained.length === 1)
    return [...changes, ...schemaChanges(comparison, `${where}: ${keyword}`, was, is)];
  // A further branch of `allOf` is a further condition; the first branch of another is one too.
  const isCondition = keyword === 'allOf';
  const begins = from.length === 0;
  const ends = to.length === 0;
  if (gained.length > 0)
    say(`${keyword} has ${gained.length} more`, {
      narrows: isCondition || begins,
      widens: !isCondition && !begins,
    });
  if (lost.length > 0)
    say(`${keyword} has ${lost.length} fewer`, {
      narrows: !isCondition && !ends,
      widens: isCondition || ends,
    });
  return changes;
}

/** The keywords of a schema, those beside a reference over those that it leads to. */
function keywords(document: Document, schema: Schema | undefined): Keywords {
  if (schema === undefined || schema === true) return {};
  if (schema === false) return { not: {} };
  if (!('$ref' in schema)) return schema;
  const { $ref, ...beside } = schema;
  return { ...keywords(document, resolve<Schema>(document, { $ref: String($ref) })), ...beside };
}

function nameOf(schema: Schema | undefined): string | undefined {
  if (typeof schema !== 'object' || typeof schema['$ref'] !== 'string') return undefined;
  return schema['$ref'].split('/').at(-1);
}

const inWords = (value: unknown) => (value === undefined ? 'not set' : JSON.stringify(value));

/** Keywords that bound a quantity, and whether from below. */
const bounds = [
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

/** Keywords that restrict where they are set, and of which no value is known to imply another. */
const restrictions = ['pattern', 'format', 'multipleOf'] as const;

const judged: ReadonlySet<string> = new Set<string>([
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
  ...bounds.map(([keyword]) => keyword),
  ...restrictions,
]);

/** Keywords that a reader alone takes note of. */
const wording: ReadonlySet<string> = new Set([
  'title',
  'description',
  'example',
  'examples',
  'deprecated',
  '$comment',
  'externalDocs',
  'xml',
]);
