import type { z } from 'zod';
import { $ZodAsyncError } from 'zod/v4/core';
import { isObject } from '../http/isObject.ts';
import { dateOf } from './convert.ts';
import { inspectJson } from './jsonable.ts';
import { unwrap } from './zodSchema.ts';

/** Results by schema and value: a recursive schema may reach a value by many paths. */
type Memo = Map<z.core.$ZodType, Map<unknown, unknown>>;

/**
 * Replaces date-times (RFC 3339) in a JSON value by dates, wherever the schema takes a date. Any other value is left as it
 * is, for the schema to reject. Values that change are copied.
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
    // `__proto__` is a member of the copy too, as JSON.parse makes it: it is set like any other.
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

/** As zod's union: the first option that accepts the value, which a discriminator names without trying them. */
function readUnion({ options, ...def }: z.core.$ZodUnionDef, value: unknown, memo: Memo): unknown {
  const discriminator = 'discriminator' in def ? (def.discriminator as string) : undefined;
  if (discriminator !== undefined && isObject(value)) {
    const kind = value[discriminator] as z.core.util.Primitive;
    const named = options.find((option) => option._zod.propValues?.[discriminator]?.has(kind));
    return named ? readDates(named, value, memo) : value;
  }
  const reads = options.map((option) => readDates(option, value, memo));
  // Checking costs as much as all that the value holds, and each union around this one checks it again.
  if (reads.every((read) => read === value)) return value;
  // The last option is not checked: a value that it does not accept is rejected when the schema parses it.
  const last = options.length - 1;
  return reads.find((read, index) => index === last || accepts(options[index] as z.core.$ZodType, read));
}

/** Whether a schema accepts a value. Not by `safeParse`, which builds an error for each value that it rejects. */
function accepts(schema: z.core.$ZodType, value: unknown): boolean {
  try {
    const payload = schema._zod.run({ value, issues: [] }, { async: false });
    if (!(payload instanceof Promise)) return payload.issues.length === 0;
    // An asynchronous check cannot be waited for here: the first option whose types fit is taken.
    payload.catch(() => undefined);
    return true;
  } catch (cause) {
    return cause instanceof $ZodAsyncError;
  }
}

const known = new WeakMap<z.core.$ZodType, boolean>();

/** Whether an input schema takes a date, itself or somewhere within. */
function hasDate(schema: z.core.$ZodType): boolean {
  let found = known.get(schema);
  if (found === undefined) {
    found = inspectJson(schema, 'input').hasDate;
    known.set(schema, found);
  }
  return found;
}
