import type { z } from 'zod';
import { $ZodAsyncError } from 'zod/v4/core';
import { isObject } from '../http/isObject.ts';
import { dateOf } from './convert.ts';
import { inspectJson } from './inspectJson.ts';
import { unwrap } from './zodSchema.ts';

/** Results by schema and value, because a recursive schema may reach a value on many paths. */
type Memo = Map<z.core.$ZodType, Map<unknown, unknown>>;

/**
 * Converts date-times (RFC 3339) in a JSON value to dates, wherever the schema accepts a date. Other values are kept,
 * so that the schema rejects them. Objects and arrays that change are copied.
 */
export function readDates(schema: z.core.$ZodType, value: unknown, memo: Memo = new Map()): unknown {
  // A number, `true` or `null` holds no date, whatever the schema.
  if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) return value;
  if (!hasDate(schema)) return value;
  if (typeof value === 'string') return readBy(schema as z.core.$ZodTypes, value, memo);
  let results = memo.get(schema);
  if (results === undefined) memo.set(schema, (results = new Map()));
  if (!results.has(value)) results.set(value, readBy(schema as z.core.$ZodTypes, value, memo));
  return results.get(value);
}

function readBy(schema: z.core.$ZodTypes, value: string | object, memo: Memo): unknown {
  const { def } = schema._zod;
  switch (def.type) {
    case 'date':
      return typeof value === 'string' ? (dateOf(value) ?? value) : value;
    case 'object':
    case 'record':
      return isObject(value) ? readMembers(def, value, memo) : value;
    case 'array':
    case 'tuple':
      return Array.isArray(value) ? readMembers(def, value, memo) : value;
    case 'intersection':
      return readDates(def.right, readDates(def.left, value, memo), memo);
    case 'union':
      return readUnion(def, value, memo);
    default: {
      const inner = unwrap(schema);
      return inner ? readDates(inner, value, memo) : value;
    }
  }
}

function readMembers(def: Container, value: object, memo: Memo): unknown {
  const members = value as Readonly<Record<string, unknown>>;
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(value)) {
    const schema = memberSchema(def, name);
    const member = schema ? readDates(schema, members[name], memo) : members[name];
    if (member === members[name]) continue;
    // Spread copies `__proto__` as an own property, as JSON.parse creates it, so assigning it is safe.
    copy ??= (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string, unknown>;
    copy[name] = member;
  }
  return copy ?? value;
}

type Container = z.core.$ZodObjectDef | z.core.$ZodRecordDef | z.core.$ZodArrayDef | z.core.$ZodTupleDef;

function memberSchema(def: Container, name: string): z.core.$ZodType | null | undefined {
  switch (def.type) {
    case 'object':
      return Object.hasOwn(def.shape, name) ? def.shape[name] : def.catchall;
    case 'record':
      return def.valueType;
    case 'array':
      return def.element;
    default:
      return def.items[Number(name)] ?? def.rest;
  }
}

/**
 * Reads a union as zod does: with a discriminator by its option, otherwise by the first option that accepts the value.
 */
function readUnion({ options, ...def }: z.core.$ZodUnionDef, value: unknown, memo: Memo): unknown {
  const discriminator = 'discriminator' in def ? (def.discriminator as string) : undefined;
  if (discriminator !== undefined && isObject(value)) {
    const kind = value[discriminator] as z.core.util.Primitive;
    const named = options.find((option) => option._zod.propValues?.[discriminator]?.has(kind));
    return named ? readDates(named, value, memo) : value;
  }
  const candidates = options.map((option) => readDates(option, value, memo));
  // Avoid checks: each one costs as much as the size of the value, and every enclosing union repeats it.
  if (candidates.every((read) => read === value)) return value;
  // The last option needs no check: if it does not accept the value, the schema rejects it later.
  const last = options.length - 1;
  return candidates.find((read, index) => index === last || accepts(options[index] as z.core.$ZodType, read));
}

/**
 * Whether a schema accepts a value. `safeParse` would be slower, because it creates an error for each rejected value.
 */
function accepts(schema: z.core.$ZodType, value: unknown): boolean {
  try {
    const payload = schema._zod.run({ value, issues: [] }, { async: false });
    if (!(payload instanceof Promise)) return payload.issues.length === 0;
    // This function is synchronous and cannot await an asynchronous check: accept the first option with matching types.
    payload.catch(() => undefined);
    return true;
  } catch (cause) {
    return cause instanceof $ZodAsyncError;
  }
}

const dateSchemas = new WeakMap<z.core.$ZodType, boolean>();

/** Whether an input schema accepts a date, itself or in a nested schema. */
function hasDate(schema: z.core.$ZodType): boolean {
  let result = dateSchemas.get(schema);
  if (result === undefined) {
    result = inspectJson(schema, 'input').hasDate;
    dateSchemas.set(schema, result);
  }
  return result;
}
