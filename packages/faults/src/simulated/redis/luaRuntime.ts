import { createHash } from 'node:crypto';

/** A value of a script. `undefined` is nil. Strings have a character for each byte. */
export type LuaValue = undefined | boolean | number | string | LuaTable;

/** Ends a script with an error reply, as Lua would. */
export class LuaError extends Error {}

/** Reports what the model does not know: an error of the model, which no reply hides. */
export const unsupported = (what: string): never => {
  throw new Error(`The simulated Redis does not know this in a script: ${what}.`);
};

/** Fields of a table, of an object without a prototype. */
type Fields = Record<string, LuaValue>;

/** A list from 1, and fields with names. */
export class LuaTable {
  readonly list: LuaValue[];
  /** Most tables have none. */
  fields: Fields | undefined;

  constructor(list: LuaValue[], fields?: Fields) {
    this.list = list;
    this.fields = fields;
  }
}

const nameOf = (value: LuaValue): string =>
  value === undefined ? 'nil' : value instanceof LuaTable ? 'table' : typeof value;

const decimal = /^\s*(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|Infinity)\s*$/i;

function tonumber(value: LuaValue): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return undefined;
  if (decimal.test(value)) return Number(value);
  return undefined;
}

function number(value: LuaValue): number {
  const result = typeof value === 'number' ? value : tonumber(value);
  if (result !== undefined) return result;
  throw new LuaError(`attempt to perform arithmetic on a ${nameOf(value)} value`);
}

function text(value: LuaValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number')
    return Number.isInteger(value) ? String(value) : unsupported('a fraction as text');
  throw new LuaError(`attempt to concatenate a ${nameOf(value)} value`);
}

function tableOf(value: LuaValue): LuaTable {
  if (value instanceof LuaTable) return value;
  throw new LuaError(`attempt to index a ${nameOf(value)} value`);
}

/** Whether values may be compared by their order. */
function comparable(one: LuaValue, other: LuaValue): asserts one is string {
  if (typeof one === typeof other && (typeof one === 'number' || typeof one === 'string')) return;
  throw new LuaError(`attempt to compare ${nameOf(one)} with ${nameOf(other)}`);
}

/** What compiled scripts call: the names are those of Lua, or of its operators. */
export const luaRuntime = {
  number,
  tonumber,
  table: (list: LuaValue[], fields?: Fields) => new LuaTable(list, fields),
  isTrue: (value: LuaValue): boolean => value !== undefined && value !== false,
  and: (left: LuaValue, right: () => LuaValue) => (left === undefined || left === false ? left : right()),
  or: (left: LuaValue, right: () => LuaValue) => (left === undefined || left === false ? right() : left),
  concat: (left: LuaValue, right: LuaValue): string => text(left) + text(right),
  '<': (one: LuaValue, other: LuaValue) => (comparable(one, other), one < (other as string)),
  '<=': (one: LuaValue, other: LuaValue) => (comparable(one, other), one <= (other as string)),
  '>': (one: LuaValue, other: LuaValue) => (comparable(one, other), one > (other as string)),
  '>=': (one: LuaValue, other: LuaValue) => (comparable(one, other), one >= (other as string)),
  length(value: LuaValue): number {
    if (typeof value === 'string') return value.length;
    return tableOf(value).list.length;
  },
  index(value: LuaValue, key: LuaValue): LuaValue {
    const { fields, list } = tableOf(value);
    return typeof key === 'number' ? list[key - 1] : fields?.[key as string];
  },
  assign(target: LuaValue, key: LuaValue, value: LuaValue): void {
    const table = tableOf(target);
    const { list } = table;
    if (typeof key === 'string') (table.fields ??= Object.create(null) as Fields)[key] = value;
    else if (typeof key === 'number' && list[key - 2] !== undefined && value !== undefined)
      list[key - 1] = value;
    else if (key === 1 && value !== undefined) list[0] = value;
    else return unsupported(`the assignment of ${nameOf(value)} at a key that leaves a gap`);
  },
  unpack: (value: LuaValue): readonly LuaValue[] => tableOf(value).list,
  /** Positions from the end are not supported. */
  sub: (value: LuaValue, from: LuaValue, to: LuaValue) => text(value).slice(number(from) - 1, number(to)),
  match(value: LuaValue, pattern: RegExp): readonly LuaValue[] {
    const found = pattern.exec(text(value));
    if (found === null) return [undefined];
    return found.length > 1 ? found.slice(1) : found;
  },
  // As short as they can be, where Redis writes 17 digits of the same number.
  '%.17g': (value: LuaValue): string => String(number(value)),
  '%.0f': (value: LuaValue): string => String(Math.round(number(value))),
  sha1hex: (value: LuaValue): string => createHash('sha1').update(text(value), 'latin1').digest('hex'),
};
