import * as z from 'zod';
import { clone } from 'zod/v4/core';
import { ignoreRejection } from '../http/hooks.ts';
import { isThenable } from '../http/maybePromise.ts';
import { internalsIn } from './parseFunction.ts';
import { isZod } from './zodSchema.ts';

// Three formats of zod (4.6.7) take quadratic time or more for some texts: URLs with a long host (21,000 Chinese
// characters take 0.5 s, in `new URL`), `normalize` of many combining marks in a row (60,000 take 0.6 s, on Bun 5 s), and
// template literals (1,000 times `x` take 0.5 s for `${string}x${string}x${string}y`, which zod writes as a regular
// expression). `.max()` does not help, since zod runs all checks of a text. A limit of the length would not either: it
// would have to be 300 characters, because a list has many texts. So each of these formats comes after a rule that takes
// linear time, and that usual texts do not break.

/** The longest name of the DNS, in characters (RFC 1035 §2.3.4: 255 octets, with the length of each label). */
const maxHostLength = 253;

/** Most combining marks in a row. The Stream-Safe Text Format of Unicode allows 30 (UAX #15 §13). */
const maxMarks = 100;

/**
 * Most ways in which the parts of a template literal can end within a text: the product of the places of each part. A list
 * of 1 MB of such texts takes up to 0.25 s, in proportion to this number.
 */
const maxPlaces = 200;

/**
 * What each character counts where another part follows without a separator: the next part is tried at all of them, and an
 * e-mail address takes 4 ns for each character that it reads there.
 */
const adjacentPlaces = 1.5;

/**
 * Most characters that are read, at the places above, for a text that an input has only once: 1,000 characters with two
 * adjacent parts, which take 1 to 2 ms. A batch has such an input for each call, but starts its calls in slices.
 */
const maxSteps = 1_500_000;

type Schema = z.core.$ZodType;
/** Returns the problem of a text that would take too long; `undefined` for any other text. */
type Rule = (text: string) => string | undefined;

/** The schemas for texts that an input has once, and for those that it may have any number of, as in a list. */
const boundedSchemas = { single: new WeakMap<Schema, Schema>(), repeated: new WeakMap<Schema, Schema>() };
type Occurrence = keyof typeof boundedSchemas;

/**
 * Returns a schema with the same results and issues, which rejects a text that would take one of these formats too long.
 * A schema without such a format is returned as it is.
 */
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

function hasRules(root: Schema): boolean {
  for (const { def } of internalsIn(root)) if (isTemplate(def) || rulesOf(def).length > 0) return true;
  return false;
}

function withRules(root: Schema, occurrence: Occurrence): Schema {
  const { def } = root._zod;
  if (isTemplate(def)) return boundTemplate(root, def, occurrence);
  const rules = rulesOf(def);
  return rules.length > 0 ? withCheck(root, rules) : copyOf(root, occurrence);
}

/** Puts rules before a schema of texts. */
function withCheck(schema: Schema, rules: readonly Rule[]): Schema {
  const { coerce } = schema._zod.def as z.core.$ZodStringDef;
  // The schema itself rejects other values, with its own issues.
  const value = (coerce ? z.coerce.string() : z.any()).check((payload) => {
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
  const { def } = root._zod as z.core.$ZodTypes['_zod'];
  const properties: Record<string, PropertyDescriptor> = Object.getOwnPropertyDescriptors(def);
  if (def.type === 'lazy') {
    // Where zod keeps the result of the getter.
    delete properties['_cachedInner'];
    const { innerType } = root._zod as z.core.$ZodLazyInternals;
    properties['getter'] = { value: () => withBounds(innerType, 'repeated') };
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
  for (const part of Object.values(def.shape)) {
    for (const internals of internalsIn(part)) if (internals === root._zod) return true;
  }
  return false;
}

const containers: ReadonlySet<string> = new Set(['array', 'map', 'record', 'set']);

function boundPart(part: unknown, occurrence: Occurrence): unknown {
  if (Array.isArray(part)) return part.map((each: unknown) => boundPart(each, occurrence));
  return isZod(part) ? withBounds(part, occurrence) : part;
}

/** Lists the rules of a schema that is not a template literal. */
function rulesOf(definition: z.core.$ZodTypeDef): readonly Rule[] {
  if (definition.type !== 'string') return [];
  const formats = [definition, ...(definition.checks ?? []).map((check) => check._zod.def)] as readonly {
    readonly format?: string;
    readonly tx?: (text: string) => string;
  }[];
  const rules: Rule[] = [];
  if (formats.some(({ format }) => format === 'url')) rules.push(longHost);
  if (formats.some(({ tx }) => tx !== undefined && normalizes(tx))) rules.push(manyMarks);
  return rules;
}

/**
 * Returns what a check makes of a text; `undefined` if that is no text. zod gives the checks that change a
 * text (`.trim()`, `.normalize()`, `.overwrite()`) no name, so they are known by their results.
 */
function resultOf(change: (text: string) => unknown, text: string): string | undefined {
  try {
    const result = change(text);
    if (isThenable(result)) ignoreRejection(result);
    return typeof result === 'string' ? result : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a check only removes white space around texts, as `.trim()` does. */
export const trims = (change: (text: string) => unknown): boolean =>
  ['', ' \t', ' a\u00A0', ` A  b.e\u0301\u00C5${' c'.repeat(999)}\n`].every(
    (text) => resultOf(change, text) === text.trim(),
  );

/**
 * Whether a check normalizes texts, perhaps with other changes: it composes the pair of the probe (`\u00E9`), or
 * decomposes the letter, of which `a` is left.
 */
const normalizes = (change: (text: string) => unknown): boolean =>
  /[a\u00E9]/i.test(resultOf(change, 'e\u0301\u00C5') ?? '');

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

const isTemplate = (def: z.core.$ZodTypeDef): def is z.core.$ZodTemplateLiteralDef =>
  def.type === 'template_literal';

/** A part of a template literal: a literal text, or the pattern of a schema. */
type Part = string | { readonly source: string; readonly isAny: boolean; readonly degree: number };

/** Returns a part; those of a template literal in another one are its own. */
function partsOf(part: z.core.$ZodTemplateLiteralPart): readonly Part[] {
  if (typeof part !== 'object' || part === null) return [String(part)];
  if (isTemplate(part._zod.def)) return part._zod.def.parts.flatMap(partsOf);
  const { def, pattern } = part._zod as z.core.$ZodStringFormatInternals;
  const isAny = (def.type as string) === 'string' && def.pattern === undefined && !def.checks?.length;
  return [{ source: pattern.source, isAny, degree: degreeOf(part) }];
}

/** Returns how many unbounded parts follow each other in the pattern of a schema: more than 1 for a union of templates. */
function degreeOf(schema: Schema): number {
  const { def, innerType, pattern } = schema._zod as z.core.$ZodTypes['_zod'] & {
    readonly innerType?: Schema;
  };
  if (def.type === 'union') return Math.max(...def.options.map((option) => degreeOf(option)));
  if (isTemplate(def)) return def.parts.flatMap(partsOf).reduce((sum, part) => sum + degree(part), 0);
  const inner = 'innerType' in def ? def.innerType : innerType;
  return inner ? degreeOf(inner) : isUnboundedPattern(pattern?.source ?? '') ? 1 : 0;
}

const degree = (part: Part): number => (typeof part === 'object' ? part.degree : 0);

/** Whether a pattern matches texts of any length. Characters that it quotes, or has in a class, do not count. */
const isUnboundedPattern = (source: string): boolean =>
  /[*+]|\{\d*,/.test(source.replaceAll(/\\.|\[(?:\\.|[^\]])*\]/g, ''));

function boundTemplate(schema: Schema, def: z.core.$ZodTemplateLiteralDef, occurrence: Occurrence): Schema {
  const parts: Part[] = [];
  for (const part of def.parts.flatMap(partsOf)) {
    const previous = parts.at(-1);
    if (typeof part === 'string' && typeof previous === 'string') parts.splice(-1, 1, previous + part);
    else if (part !== '') parts.push(part);
  }
  if (parts.reduce((sum, part) => sum + degree(part), 0) < 2) return schema;
  if (parts.every((part) => typeof part === 'string' || part.isAny))
    return literalsSchema(schema, def, parts);
  return withCheck(schema, [
    (text) => {
      const most = occurrence === 'single' ? Math.max(maxPlaces, maxSteps / text.length) : maxPlaces;
      return placesOf(parts, text, most) > most
        ? 'must be shorter, or have fewer of the characters that separate its parts'
        : undefined;
    },
  ]);
}

/**
 * Returns a schema with the results and issues of a template literal whose other parts are any text. It takes linear time:
 * a literal is found at its first place after the previous one.
 */
function literalsSchema(schema: Schema, def: z.core.$ZodTemplateLiteralDef, parts: readonly Part[]): Schema {
  const literals = [''];
  for (const part of parts) {
    if (typeof part === 'string') literals.push((literals.pop() ?? '') + part);
    else literals.push('');
  }
  const { source: pattern } = (schema._zod as z.core.$ZodTemplateLiteralInternals).pattern;
  return z.any().check(
    ({ issues, value }) => {
      if (typeof value !== 'string')
        issues.push({ code: 'invalid_type', expected: 'string', input: value, inst: schema });
      else if (!matchesLiterals(literals, value)) {
        const format = def.format ?? 'template_literal';
        issues.push({ code: 'invalid_format', format, pattern, input: value, inst: schema });
      }
    },
    ...((def.checks ?? []) as z.core.$ZodCheck<unknown>[]),
  );
}

/** Whether a text has these literals in this order, the first one at its start and the last one at its end. */
function matchesLiterals([first = '', ...others]: readonly string[], text: string): boolean {
  const last = others.pop() ?? '';
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const literal of others) {
    const found = text.indexOf(literal, at);
    if (found === -1) return false;
    at = found + literal.length;
  }
  return at + last.length <= text.length && text.endsWith(last);
}

/** Returns in how many ways the unbounded parts can end within a text, except for the last of them, up to `most`. */
function placesOf(parts: readonly Part[], text: string, most: number): number {
  let places = 1;
  for (const part of parts) places *= text.length ** Math.max(0, degree(part) - 1);
  const last = parts.findLastIndex((part) => degree(part) > 0);
  for (const [index, part] of parts.slice(0, last).entries()) {
    const next = parts[index + 1];
    if (degree(part) === 0 || places > most) continue;
    // A number ends before the first character that is not of a number.
    if (typeof next === 'string' && typeof part === 'object' && isNumber(part.source) && !/^[\d.]/.test(next))
      continue;
    places *=
      typeof next === 'string' ? Math.max(1, countOf(next, text, most)) : adjacentPlaces * text.length;
  }
  return places;
}

/** Whether a pattern is that of a number of zod. */
const isNumber = (source: string): boolean => source.startsWith(String.raw`^-?\d+`);

/** Counts the places of a literal, up to `most`. */
function countOf(literal: string, text: string, most: number): number {
  let count = 0;
  for (let at = text.indexOf(literal); at !== -1 && count <= most; at = text.indexOf(literal, at + 1))
    count += 1;
  return count;
}
