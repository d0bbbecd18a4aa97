import { boundTexts } from '../procedures/boundTexts.ts';
import { accepts } from '../schemas/zodSchema.ts';
import { isObject } from '../http/isObject.ts';
import { dateOf } from './convert.ts';
import { hasDate } from './inspectJson.ts';
import { details, membersOf, parserOf, valuesOf, type Schema } from '../schemas/schema.ts';

/** Results by schema and value, because a recursive schema may reach a value on many paths. */
type Memo = Map<Schema, Map<unknown, unknown>>;

/** Converts date-times (RFC 3339) where the schema accepts a date. Keeps the rest, copies what changes. */
export function readDates(schema: Schema, value: unknown, memo: Memo = new Map()): unknown {
  // A number, `true` or `null` holds no date, whatever the schema.
  if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) return value;
  if (!hasDate(schema)) return value;
  if (typeof value === 'string') return readBy(schema, value, memo);
  let results = memo.get(schema);
  if (results === undefined) memo.set(schema, (results = new Map()));
  if (!results.has(value)) results.set(value, readBy(schema, value, memo));
  return results.get(value);
}

function readBy(schema: Schema, value: string | object, memo: Memo): unknown {
  const { target, type } = schema[details] ?? {};
  if (target) return readDates(target, value, memo);
  if (type !== undefined)
    return type === 'date' && typeof value === 'string' ? (dateOf(value) ?? value) : value;
  let result: unknown = typeof value === 'string' ? value : readMembers(schema, value, memo);
  for (const part of schema.allOf ?? []) result = readDates(part, result, memo);
  const members = membersOf(schema);
  return members ? readUnion(schema, members, result, memo) : result;
}

function readMembers(schema: Schema, value: object, memo: Memo): object {
  const members = value as Readonly<Record<string, unknown>>;
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(value)) {
    const nested = memberSchema(schema, Array.isArray(value), name);
    const member = typeof nested === 'object' ? readDates(nested, members[name], memo) : members[name];
    if (member === members[name]) continue;
    // Spread copies `__proto__` as an own property, as JSON.parse creates it, so assigning it is safe.
    copy ??= (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>;
    copy[name] = member;
  }
  return copy ?? value;
}

function memberSchema(
  { additionalProperties, items, prefixItems, properties = {} }: Schema,
  isArray: boolean,
  name: string,
): Schema | boolean | undefined {
  if (isArray) return prefixItems?.[Number(name)] ?? items;
  return Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
}

/** Reads a union as its library does: by the first member that accepts the value. */
function readUnion(union: Schema, members: readonly Schema[], value: unknown, memo: Memo): unknown {
  // A member with another constant, such as a discriminator, is none, whatever else is wrong with the value.
  const possible = members.filter((member) => !hasOtherConstant(member, value));
  const candidates = possible.map((member) => readDates(member, value, memo));
  // Avoid checks: each one costs as much as the size of the value, and every enclosing union repeats it.
  if (candidates.every((read) => read === value)) return value;
  // The last member needs no check: if it does not accept the value, the schema rejects it later.
  const last = possible.length - 1;
  return candidates.find((read, index) => index === last || isValid(possible[index], union, read));
}

/** Whether a property of an object is not the constant, or one of the constants, of the schema. */
function hasOtherConstant(schema: Schema, value: unknown): boolean {
  const { target } = schema[details] ?? {};
  if (target) return hasOtherConstant(target, value);
  return (
    isObject(value) &&
    Object.entries(schema.properties ?? {}).some(([name, property]) => {
      const values = valuesOf(property);
      return values !== undefined && Object.hasOwn(value, name) && !values.includes(value[name]);
    })
  );
}

/**
 * Whether a member accepts a value, as far as that is known at once: schemas of other libraries than zod have no dates.
 * zod writes an intersection with a union as a union whose members have no parser, so the whole has to accept the value.
 */
function isValid(member: Schema | undefined, union: Schema, value: unknown): boolean {
  const parser = (member && parserOf(member)) ?? parserOf(union);
  return parser === undefined || accepts(boundTexts(parser), value);
}
