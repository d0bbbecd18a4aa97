import { createHash } from 'node:crypto';

/** A value of a script. `undefined` is nil. Strings have a character for each byte. */
export type LuaValue = undefined | boolean | number | string | LuaTable;

export class LuaTable extends Map<LuaValue, LuaValue> {}

/** Reports what the model does not know: an error of the model, which no reply hides. */
export const unsupported = (what: string): never => {
  throw new Error(`The simulated Redis does not know this in a script: ${what}.`);
};

/** Creates a table of a list, whose keys begin with 1. */
export const tableOf = (list: readonly LuaValue[], fields: object = {}): LuaTable =>
  new LuaTable([...list.map((value, at) => [at + 1, value] as const), ...Object.entries(fields)]);

/** Returns the values of a list, up to its first nil. */
export function listOf(table: LuaTable): LuaValue[] {
  const list: LuaValue[] = [];
  for (let at = 1; table.get(at) !== undefined; at += 1) list.push(table.get(at));
  return list;
}

/** Returns a value as a table. @throws if it is none */
function expectTable(value: LuaValue): LuaTable {
  if (value instanceof LuaTable) return value;
  throw new Error(`attempt to index a ${value === undefined ? 'nil' : typeof value} value`);
}

const decimal = /^\s*(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|Infinity)\s*$/i;

const tonumber = (value: LuaValue): number | undefined =>
  typeof value === 'number' || (typeof value === 'string' && decimal.test(value)) ? Number(value) : undefined;

const number = (value: LuaValue): number => {
  const result = tonumber(value);
  if (result === undefined) throw new Error(`attempt to perform arithmetic on a ${typeof value} value`);
  return result;
};

function text(value: LuaValue): string {
  if (typeof value === 'number' && !Number.isInteger(value)) return unsupported('a fraction as text');
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new Error(`attempt to concatenate a ${typeof value} value`);
}

const isTrue = (value: LuaValue): boolean => value !== undefined && value !== false;

/** A pattern of Lua as a regular expression. */
function toRegExp(pattern: string): RegExp {
  if (!/^(?:[\w: ()]|%[dw]\+|\.\*)*$/.test(pattern)) return unsupported(`the pattern ${pattern}`);
  return new RegExp(pattern.replaceAll('.', '[^]').replaceAll('%w', '[A-Za-z0-9]').replaceAll('%d', '[0-9]'));
}

/** What compiled scripts call for the operators of Lua. */
export const operators = {
  number,
  table: tableOf,
  isTrue,
  and: (left: LuaValue, right: () => LuaValue) => (isTrue(left) ? right() : left),
  or: (left: LuaValue, right: () => LuaValue) => (isTrue(left) ? left : right()),
  concat: (left: LuaValue, right: LuaValue): string => text(left) + text(right),
  /** Returns -1, 0 or 1. */
  compare(one: LuaValue, other: LuaValue): number {
    if (typeof one !== typeof other || (typeof one !== 'number' && typeof one !== 'string'))
      throw new Error(`attempt to compare ${typeof one} with ${typeof other}`);
    return one < (other as typeof one) ? -1 : Number(one > (other as typeof one));
  },
  length: (value: LuaValue): number =>
    typeof value === 'string' ? value.length : listOf(expectTable(value)).length,
  index: (value: LuaValue, key: LuaValue): LuaValue => expectTable(value).get(key),
  assign: (table: LuaValue, key: LuaValue, value: LuaValue) => void expectTable(table).set(key, value),
  *range(from: LuaValue, to: LuaValue, step: LuaValue = 1) {
    for (let at = number(from); at <= number(to); at += number(step)) yield at;
  },
  pairsOf: (value: LuaValue) => listOf(expectTable(value)).map((each, at) => [at + 1, each]),
};

/** Functions of Lua and Redis. Each returns a list. */
export const functions: Readonly<Record<string, (...args: LuaValue[]) => readonly LuaValue[]>> = {
  tonumber: (value) => [tonumber(value)],
  unpack: (value) => listOf(expectTable(value)),
  'math.floor': (value) => [Math.floor(number(value))],
  'math.max': (...values) => [Math.max(...values.map(number))],
  'math.min': (...values) => [Math.min(...values.map(number))],
  /** Positions from the end are not supported. */
  'string.sub': (value, from, to) => [text(value).slice(number(from) - 1, number(to))],
  'string.match'(value, pattern) {
    const [whole, ...groups] = toRegExp(text(pattern)).exec(text(value)) ?? [];
    return groups.length > 0 ? groups : [whole];
  },
  'string.format'(format, value) {
    if (format === '%.0f') return [String(Math.round(number(value)))];
    // As short as it can be, where Redis writes 17 digits of the same number.
    return [format === '%.17g' ? String(number(value)) : unsupported(`the format ${text(format)}`)];
  },
  'redis.sha1hex': (value) => [createHash('sha1').update(text(value), 'latin1').digest('hex')],
};
