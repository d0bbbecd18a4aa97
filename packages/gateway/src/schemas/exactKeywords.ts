import * as z from 'zod';
import { ignoreRejection } from '../http/hooks.ts';
import { isObject } from '../http/isObject.ts';
import { isThenable } from '../http/maybePromise.ts';
import {
  accepts,
  checksOf,
  definitionOf,
  internalsIn,
  internalsOf,
  isPreprocess,
  lazyTarget,
  trims,
  type ZodCheck,
  type ZodDefinition,
  type ZodInternals,
  type ZodSchema,
} from './zodSchema.ts';

type Json = Record<PropertyKey, unknown>;
type Side = 'input' | 'output';

/**
 * Corrects what zod writes about one schema, so that no keyword rejects a value that the schema accepts (`input`) or
 * returns (`output`): JSON Schema has no word for some checks, and zod writes the nearest. Such keywords are left out.
 */
export function correctKeywords(schema: ZodSchema, json: Json, side: Side): void {
  const internals = internalsOf(schema);
  const { def, pattern } = internals;
  switch (def.type) {
    case 'string':
    case 'number':
    case 'array':
      return correctChecks(internals, json, side);
    case 'template_literal':
      if (!isPortable(pattern)) delete json['pattern'];
      return;
    case 'record': {
      removePatterns(json, patternsOf(checksOf(internalsOf(def.keyType))));
      const isSet =
        side === 'input' ? !accepts(def.valueType, undefined) : !canBeUndefined(def.valueType, side);
      if (!isSet) delete json['required'];
      return;
    }
    case 'readonly':
      // In OpenAPI, a property that is `readOnly` must not be sent.
      delete json['readOnly'];
      return;
    case 'default':
    case 'prefault':
    case 'catch':
      if (isPublishable(def, side)) return;
      for (const name of ['default', '_prefault']) delete json[name];
      return;
    case 'union': {
      // Members accept more than the schema where a check has no keyword, and then two of them match what one accepts. zod before
      // 4.4 does not say that a discriminated union is exclusive.
      const [keyword, other] = isDiscriminated(def) ? ['oneOf', 'anyOf'] : ['anyOf', 'oneOf'];
      if (!(other in json)) return;
      json[keyword] = json[other];
      delete json[other];
      return;
    }
    case 'object': {
      if (!Array.isArray(json['required'])) return;
      const required = json['required'].filter((name: string) => isAlwaysSet(def.shape[name], side));
      if (required.length > 0) json['required'] = required;
      else delete json['required'];
      return;
    }
    case 'tuple': {
      if (side === 'output' || checksOf(internals).length > 0) return;
      const least = def.items.findLastIndex((item) => isAlwaysSet(item, side)) + 1;
      if (least > 0) json['minItems'] = least;
      else delete json['minItems'];
    }
  }
}

/** Whether one property decides which member of a union validates a value, so that no other member can. */
export const isDiscriminated = (
  def: z.core.$ZodUnionDef & Partial<z.core.$ZodDiscriminatedUnionDef>,
): def is z.core.$ZodDiscriminatedUnionDef => typeof def.discriminator === 'string' && !def.unionFallback;

/** Values of `format` that zod writes for checks that are not formats. */
const notFormats = new Set(['ends_with', 'includes', 'lowercase', 'regex', 'starts_with', 'uppercase']);

/** Removes the keywords of checks that see another value than the one that is sent, and patterns with another meaning. */
function correctChecks(internals: ZodInternals, json: Json, side: Side): void {
  const { bag, def } = internals;
  const checks = checksOf(internals);
  const kept = effectiveChecks(checks, side);
  if (kept.length < checks.length || kept.some((check, index) => check !== checks[index])) {
    const again = keywordsOf(def.type, kept);
    for (const name of Object.keys(keywordsOf(def.type, checks))) if (!(name in again)) delete json[name];
    Object.assign(json, again);
  }
  if (def.type !== 'string') return;
  if (notFormats.has(json['format'] as string)) {
    const formats = kept.filter(({ _zod }) => !notFormats.has(_zod.def.format ?? ''));
    const { format } = keywordsOf(def.type, formats);
    if (format === undefined) delete json['format'];
    else json['format'] = format;
  }
  // `format: email` is the mailbox of RFC 5321, in ASCII.
  const email = kept.find(({ _zod }) => _zod.def.format === 'email');
  if (email?._zod.def.pattern?.unicode) delete json['format'];
  removePatterns(json, [...patternsOf(kept), ...((bag['patterns'] as Iterable<RegExp> | undefined) ?? [])]);
}

/** Returns what zod writes about checks, and the type. */
function keywordsOf(type: string, checks: readonly z.core.$ZodCheck[]): Json {
  const plain = type === 'string' ? z.string() : type === 'number' ? z.number() : z.array(z.unknown());
  const checked = (plain as z.ZodType).check(...(checks as z.core.$ZodCheck<unknown>[]));
  const {
    $schema: _dialect,
    items: _items,
    ...keywords
  } = z.toJSONSchema(checked, { unrepresentable: 'any' });
  return keywords;
}

/** Returns the checks that see the value as it is sent: for an input, those before the first one that changes it. */
function effectiveChecks(checks: readonly ZodCheck[], side: Side): readonly ZodCheck[] {
  const changes = checks.map(changeOf);
  return checks.flatMap((check, index): ZodCheck[] => {
    const between = side === 'input' ? changes.slice(0, index) : changes.slice(index + 1);
    if (between.every((change) => change === undefined)) return [check];
    // What is too short stays too short if it is trimmed; what is short enough stays so.
    if (!between.every((change) => change !== 'other')) return [];
    const { minimum, maximum, length } = check._zod.def;
    const bound = side === 'input' ? (minimum ?? length) : (maximum ?? length);
    if (bound === undefined || !/_length$|^length_/.test(check._zod.def.check)) return [];
    return [side === 'input' ? z.minLength(bound) : z.maxLength(bound)];
  });
}

/** Returns whether a check shortens a value, or changes it in another way. */
function changeOf({ _zod }: ZodCheck): 'shorter' | 'other' | undefined {
  const { check, format, normalize, tx } = _zod.def;
  if (check === 'overwrite') return tx && trims(tx) ? 'shorter' : 'other';
  return format !== 'url' ? undefined : normalize ? 'other' : 'shorter';
}

/** zod does not use its pattern of these formats, which does not accept `::ffff:192.0.2.1`. */
const unusedPatterns = new Set(['cidrv6', 'ipv6']);

function patternsOf(checks: readonly ZodCheck[]): readonly RegExp[] {
  return checks.flatMap(({ _zod: { def } }) => {
    const { format = '', pattern, position } = def;
    if (!pattern) return [];
    // zod's pattern for a position does not match line feeds.
    const isWrong = unusedPatterns.has(format) || position !== undefined;
    return isWrong ? [new RegExp(pattern.source, 'i')] : [pattern];
  });
}

/** Removes the patterns that JSON Schema would read in another way. */
function removePatterns(json: Json, patterns: Iterable<RegExp>): void {
  const removed = new Set(Array.from(patterns).flatMap((each) => (isPortable(each) ? [] : each.source)));
  if (removed.size === 0) return;
  if (removed.has(json['pattern'] as string)) delete json['pattern'];
  if (Array.isArray(json['allOf'])) {
    const kept = (json['allOf'] as Json[]).filter(({ pattern }) => !removed.has(pattern as string));
    if (kept.length > 0) json['allOf'] = kept;
    else delete json['allOf'];
  }
  if (isObject(json['patternProperties'])) {
    const entries = Object.entries(json['patternProperties']).filter(([pattern]) => !removed.has(pattern));
    if (entries.length > 0) json['patternProperties'] = Object.fromEntries(entries);
    else delete json['patternProperties'];
  }
}

/** `^.{2}$` without the flag `u` may match one character beyond U+FFFF as two. True for some that do not. */
function countsUnits(source: string): boolean {
  // `%` stands for an atom that matches half of such a character.
  const atoms = source
    .replaceAll('%', 'a')
    .replaceAll(/\\[DSW]/g, '%')
    .replaceAll(/\\./g, 'a')
    .replaceAll(/\[(\^)?([^\]]*)\]/g, (_, not: unknown, members: string) =>
      not !== undefined || members.includes('%') ? '%' : 'a',
    )
    .replaceAll('.', '%');
  return /%[*+?]*(?:\|[^()]*)?\)*\{(?![01][,}])|%[*+?]*[()?:|]*%(?![*?]|\{0)/.test(atoms);
}

/** Whether a pattern means the same in JSON Schema, which has no flags and reads patterns with `u` (2020-12 §6.4). */
function isPortable(pattern: RegExp | undefined): boolean {
  if (pattern === undefined || /[imsv]/.test(pattern.flags)) return false;
  if (pattern.unicode) return true;
  if (countsUnits(pattern.source)) return false;
  try {
    return Boolean(new RegExp(pattern.source, 'u'));
  } catch {
    return false;
  }
}

/** Whether a property or an item must be in a request, or always is in a response. */
function isAlwaysSet(schema: ZodSchema | undefined, side: Side): boolean {
  if (schema === undefined) return true;
  if (side === 'output') return !canBeUndefined(schema, side);
  return internalsOf(schema).optin === undefined || !accepts(schema, undefined);
}

/** Whether a schema accepts (`input`) or returns (`output`) `undefined`, as far as its definition shows. */
export function canBeUndefined(schema: ZodSchema, side: Side, depth = 0): boolean {
  const { def, optin, optout } = internalsOf(schema);
  if (depth > 50) return false;
  if (['any', 'undefined', 'unknown', 'void'].includes(def.type)) return true;
  if ((side === 'input' ? optin : optout) !== undefined) {
    // A function that runs before the schema may return another value than `undefined`.
    return side === 'output' || !isPreprocess(def) || accepts(schema, undefined);
  }
  const inner = (part: ZodSchema) => canBeUndefined(part, side, depth + 1);
  if (side === 'input') return false;
  switch (def.type) {
    case 'union':
      return def.options.some(inner);
    case 'literal':
      return def.values.includes(undefined);
    case 'intersection':
      return inner(def.left) && inner(def.right);
    case 'pipe':
      return inner(def.out);
    case 'custom':
    case 'transform':
      return true;
    case 'lazy':
      return inner(lazyTarget(schema));
    case 'nullable':
    case 'readonly':
    case 'catch':
      return inner(def.innerType);
    default:
      return false;
  }
}

/**
 * Whether a default may be in the document: a value that a client can send, and that the server has at any time. zod does
 * not tell a function from a value, so a default is left out if two reads differ, or if it is a promise or looks like a
 * time: a clock that is changed for the second read would be seen by all that the function calls, such as a cache.
 */
function isPublishable(
  def: z.core.$ZodDefaultDef | z.core.$ZodPrefaultDef | z.core.$ZodCatchDef,
  side: Side,
): boolean {
  try {
    const [text, again] = [defaultOf(def), defaultOf(def)].map(withoutTimes);
    if (text === undefined || text !== again) return false;
    return side === 'output' || def.type === 'prefault' || !isTransformed(def.innerType);
  } catch {
    return false;
  }
}

/** Reads a default, or the value of `.catch()`, which zod calls for the document without a context too. */
function defaultOf(def: ZodDefinition): unknown {
  if (def.type === 'catch') return (def.catchValue as (context: unknown) => unknown)(undefined);
  return 'defaultValue' in def ? def.defaultValue : undefined;
}

/** Whether a schema has a default that is a promise. Its rejection is ignored. */
export function hasPromise(schema: ZodSchema): boolean {
  try {
    const value = defaultOf(definitionOf(schema));
    if (isThenable(value)) ignoreRejection(value);
    return isThenable(value);
  } catch {
    return false;
  }
}

/** Returns a default as JSON; `undefined` if it is a promise, or has no JSON, or a part that looks like a time. */
function withoutTimes(value: unknown): string | undefined {
  if (isThenable(value)) {
    ignoreRejection(value);
    return undefined;
  }
  let hasTime = false;
  const text = JSON.stringify(value, (_name, part: unknown) => {
    hasTime ||= looksLikeTime(part);
    return part;
  });
  return hasTime ? undefined : text;
}

/** Matches ISO 8601: a month, a date, a date with a time, or a time. */
const timePattern =
  /^\d{4}-\d\d(?:-\d\d)?(?:$|[T ]\d)|^T?\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?$/;

const dayMs = 86_400_000;

/** Whether a value may derive from the current time: any ISO date or time, and other forms within a day of now. */
function looksLikeTime(value: unknown): boolean {
  if (typeof value !== 'number' && typeof value !== 'string') return false;
  if (typeof value === 'string' && timePattern.test(value)) return true;
  const now = Date.now();
  // Forms such as those of `Date()` and `toUTCString()`. A number may be in milliseconds or seconds.
  const times = [
    Number(value),
    Number(value) * 1000,
    typeof value === 'string' ? Date.parse(value) : Number.NaN,
  ];
  return times.some((time) => Math.abs(time - now) <= dayMs);
}

/** Whether a schema, or a part of it, converts what is sent to something else. */
const isTransformed = (schema: z.core.$ZodType): boolean =>
  [...internalsIn(schema)].some(({ def }) => def.type === 'pipe' && !isPreprocess(def));
