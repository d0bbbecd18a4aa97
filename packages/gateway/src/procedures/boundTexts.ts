import * as z from 'zod';
import { clone } from 'zod/v4/core';
import {
  checksOf,
  definitionOf,
  internalsIn,
  internalsOf,
  isZod,
  lazyTarget,
  normalizes,
  type ZodDefinition,
  type ZodInternals,
} from '../schemas/zodSchema.ts';

// Three formats of zod (4.6.7) take quadratic time or more: URLs with a long host (21,000 Chinese characters take 0.5
// s, in `new URL`), `normalize` of many combining marks in a row (60,000 take 0.6 s, on Bun 5 s), and template
// literals (1,000 `x` take 0.5 s for `${string}x${string}x${string}y`, a regular expression in zod). zod runs all
// checks of a text, so `.max()` does not help; a limit would be 300 characters, as a list has many texts. So a rule
// comes before each of these, which takes linear time and usual texts do not break.

/** The longest name of the DNS, in characters (RFC 1035 §2.3.4: 255 octets, with the length of each label). */
const maxHostLength = 253;

/** Most combining marks in a row. The Stream-Safe Text Format of Unicode allows 30 (UAX #15 §13). */
const maxMarks = 100;

// Each part of a template literal may end wherever the next can begin: where a literal's text is, or at every
// character. The time is the product of these places for all parts that match any length but the last (`placesOf`).

/** Most such places of a text, as a list may have any number of: 1 MB of them takes up to 0.25 s, in proportion to this. */
const maxPlaces = 200;

/** The places of a character before a part that is no literal: an e-mail address takes 4 ns for each that it reads there. */
const adjacentPlaces = 1.5;

/** Most characters read, at all places, for a text that an input has once: 1,000 with two adjacent parts, 1 to 2 ms. */
const maxSteps = 1_500_000;

type Schema = z.core.$ZodType;
/** Returns the problem of a text that would take too long; `undefined` for any other text. */
type Rule = (text: string) => string | undefined;

/** The schemas for texts that an input has once, and for those that it may have any number of, as in a list. */
const boundedSchemas = { single: new WeakMap<Schema, Schema>(), repeated: new WeakMap<Schema, Schema>() };
type Occurrence = keyof typeof boundedSchemas;

/** Returns a schema with the same results and issues that rejects texts that would take too long. */
export const boundTexts = <Root extends Schema>(root: Root): Root =>
  // The bounded schema has the same input and output.
  withBounds(root, 'single') as Root;

function withBounds(root: Schema, occurrence: Occurrence): Schema {
  const known = boundedSchemas[occurrence];
  let bounded = known.get(root);
  if (bounded === undefined) {
    bounded = hasRules(root) ? withRules(root, occurrence) : root;
    known.set(root, bounded);
  }
  return bounded;
}

const hasRules = (root: Schema): boolean =>
  [...internalsIn(root)].some((part) => isTemplate(part.def) || rulesOf(part).length > 0);

function withRules(root: Schema, occurrence: Occurrence): Schema {
  const internals = internalsOf(root);
  const { def } = internals;
  if (isTemplate(def)) return boundTemplate(root, def, occurrence);
  const rules = rulesOf(internals);
  return rules.length > 0 ? withCheck(root, rules) : copyOf(root, occurrence);
}

/** Puts rules before a schema of texts. */
function withCheck(schema: Schema, rules: readonly Rule[]): Schema {
  const def = definitionOf(schema);
  // The schema itself rejects other values, with its own issues.
  const value = (def.type === 'string' && def.coerce ? z.coerce.string() : z.any()).check((payload) => {
    const text: unknown = payload.value;
    if (typeof text !== 'string') return;
    const message = rules.map((rule) => rule(text)).find((problem) => problem !== undefined);
    // Without `continue`: the schema does not run.
    if (message !== undefined) payload.issues.push({ code: 'custom', input: text, message });
  });
  return z.pipe(value, schema as z.ZodType<unknown, string>);
}

/** Copies a schema with bounded parts. It may be recursive, through a getter of an object or a lazy schema. */
function copyOf(root: Schema, occurrence: Occurrence): Schema {
  const def = definitionOf(root);
  const properties: Record<string, PropertyDescriptor> = Object.getOwnPropertyDescriptors(def);
  if (def.type === 'lazy') {
    // Where zod keeps the result of the getter.
    delete properties['_cachedInner'];
    properties['getter'] = { value: () => withBounds(lazyTarget(root), 'repeated') };
  } else if (def.type === 'object') {
    const shape: z.core.$ZodShape = {};
    const ofParts = occurrence === 'single' && isRecursive(root, def) ? 'repeated' : occurrence;
    for (const name of Reflect.ownKeys(def.shape)) {
      const get = () => withBounds(Reflect.get(def.shape, name) as Schema, ofParts);
      Object.defineProperty(shape, name, { get, enumerable: true });
    }
    properties['shape'] = { value: shape, configurable: true, enumerable: true };
  }
  for (const [name, property] of Object.entries(properties)) {
    // Getters are not read: the default value is a getter that calls a user-defined function.
    if (name === 'checks' || !('value' in property)) continue;
    const isRepeated = containers.has(def.type) || name === 'catchall' || name === 'rest';
    property.value = boundPart(property.value, isRepeated ? 'repeated' : occurrence);
  }
  return clone(root, Object.defineProperties({ type: def.type }, properties));
}

/** Whether an object has itself among its parts, so that an input may have any number of its properties. */
function isRecursive(root: Schema, def: z.core.$ZodObjectDef): boolean {
  const parts = Object.values(def.shape);
  return parts.some((part) => [...internalsIn(part)].includes(internalsOf(root)));
}

const containers: ReadonlySet<string> = new Set(['array', 'map', 'record', 'set']);

function boundPart(part: unknown, occurrence: Occurrence): unknown {
  if (Array.isArray(part)) return part.map((each: unknown) => boundPart(each, occurrence));
  return isZod(part) ? withBounds(part, occurrence) : part;
}

/** Lists the rules of a schema that is not a template literal. */
function rulesOf(schema: ZodInternals): readonly Rule[] {
  if (schema.def.type !== 'string') return [];
  const formats = checksOf(schema).map(({ _zod }) => _zod.def);
  const rules: Rule[] = [];
  if (formats.some(({ format }) => format === 'url')) rules.push(longHost);
  if (formats.some(({ tx }) => tx !== undefined && normalizes(tx))) rules.push(manyMarks);
  return rules;
}

/** Matches the schemes whose hosts `new URL` converts to ASCII, and the rest up to the path. */
const authorityPattern = /^[^a-z:]*(?:https?|wss?|ftp|file):[/\\]*([^/\\?#]*)/i;

function longHost(text: string): string | undefined {
  if (text.length <= maxHostLength) return undefined;
  // `new URL` ignores these characters everywhere.
  const [, authority = ''] = authorityPattern.exec(text.replaceAll(/[\t\n\r]/g, '')) ?? [];
  const host = authority.slice(authority.lastIndexOf('@') + 1).replace(/:\d*$/, '');
  // Hosts of ASCII take linear time.
  if (!/[^!-$&-~]/.test(host)) return undefined;
  const { length } = host.replaceAll(/%[\da-f]{2}/gi, '%');
  return length > maxHostLength
    ? `must have a host of at most ${maxHostLength} characters, if it is not ASCII`
    : undefined;
}

/** Matches too many characters that `normalize` sorts. With the compatibility forms (NFKC), some become such marks. */
const marksPattern = new RegExp(`(?<![\\p{M}\uFF9E\uFF9F])[\\p{M}\uFF9E\uFF9F]{${maxMarks + 1}}`, 'u');

const manyMarks: Rule = (text) =>
  text.length > maxMarks && marksPattern.test(text)
    ? `must have at most ${maxMarks} combining marks in a row`
    : undefined;

const isTemplate = (def: ZodDefinition): def is z.core.$ZodTemplateLiteralDef =>
  def.type === 'template_literal';

/** A part of a template literal: a literal text, or the degree of a schema. */
type Part = string | number;

/** Returns a part; those of a template literal in another one are its own. */
function textParts(part: z.core.$ZodTemplateLiteralPart): readonly Part[] {
  if (typeof part !== 'object' || part === null) return [String(part)];
  const def = definitionOf(part);
  return isTemplate(def) ? def.parts.flatMap(textParts) : [degreeOf(part)];
}

/** Returns how many unbounded parts follow each other in the pattern of a schema: more than 1 for a union of templates. */
function degreeOf(schema: Schema): number {
  const { def, pattern } = internalsOf(schema);
  if (def.type === 'union') return Math.max(...def.options.map((option) => degreeOf(option)));
  if (isTemplate(def)) return sumOf(def.parts.flatMap(textParts));
  const inner = def.type === 'lazy' ? lazyTarget(schema) : 'innerType' in def ? def.innerType : undefined;
  return inner ? degreeOf(inner) : isUnboundedPattern(pattern?.source ?? '') ? 1 : 0;
}

const degree = (part: Part): number => (typeof part === 'number' ? part : 0);

const sumOf = (parts: readonly Part[]): number => parts.reduce<number>((sum, part) => sum + degree(part), 0);

/** Whether a pattern matches texts of any length. Characters that it quotes, or has in a class, do not count. */
const isUnboundedPattern = (source: string): boolean =>
  /[*+]|\{\d*,/.test(source.replaceAll(/\\.|\[(?:\\.|[^\]])*\]/g, ''));

function boundTemplate(schema: Schema, def: z.core.$ZodTemplateLiteralDef, occurrence: Occurrence): Schema {
  const parts: Part[] = [];
  for (const part of def.parts.flatMap(textParts)) {
    const previous = parts.at(-1);
    if (typeof part === 'string' && typeof previous === 'string') parts.splice(-1, 1, previous + part);
    else if (part !== '') parts.push(part);
  }
  if (sumOf(parts) < 2) return schema;
  return withCheck(schema, [
    (text) => {
      const most = occurrence === 'single' ? Math.max(maxPlaces, maxSteps / text.length) : maxPlaces;
      return placesOf(parts, text, most) > most
        ? 'must be shorter, or have fewer of the characters that separate its parts'
        : undefined;
    },
  ]);
}

/** Returns in how many ways the unbounded parts can end within a text, except for the last of them, up to `most`. */
function placesOf(parts: readonly Part[], text: string, most: number): number {
  let places = 1;
  for (const part of parts) places *= text.length ** Math.max(0, degree(part) - 1);
  const last = parts.findLastIndex((part) => degree(part) > 0);
  for (const [index, part] of parts.slice(0, last).entries()) {
    const next = parts[index + 1];
    if (degree(part) === 0 || places > most) continue;
    places *=
      typeof next === 'string' ? Math.max(1, countOf(next, text, most)) : adjacentPlaces * text.length;
  }
  return places;
}

function countOf(literal: string, text: string, most: number): number {
  let count = 0;
  for (let at = text.indexOf(literal); at !== -1 && count <= most; at = text.indexOf(literal, at + 1))
    count += 1;
  return count;
}
