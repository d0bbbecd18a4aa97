import { regexes } from 'zod/v4/core';
import { reject } from '../checks/gatewayError.ts';
import {
  acceptsNull,
  binaryKind,
  innermost,
  isNever,
  maxDepth,
  membersOf,
  requiresNull,
  typeOf,
  valuesOf,
  type Schema,
} from '../schemas/schema.ts';

/** The result of a converter for an invalid string. No valid string is converted to `undefined`. */
export const notConvertible = undefined;

/** Converts the string of a path segment, a query parameter or a form field to the type that a schema accepts. */
export interface Converter {
  /** The expected format, as the end of a message "must be …". */
  readonly expects: string;
  /** A short form of `expects`, without an example, for lists of alternatives. */
  readonly expectsBriefly?: string;
  readonly convert: (text: string) => unknown;
  /** The issue that zod reports for a value of another type, without path and message. */
  readonly issue: { readonly code: string; readonly [detail: string]: unknown };
  readonly isInteger: boolean;
  /** Samples of every kind of string that it converts. If two converters of a union differ on one, the union is ambiguous. */
  readonly samples: readonly string[];
}

export interface ParameterConverter extends Converter {
  /** Whether the parameter may be repeated (an array). */
  readonly isRepeated: boolean;
  /** Whether it is a file, which is not converted. */
  readonly isFile: boolean;
}

/** An integer. Nothing is trimmed or rounded. */
export const integerPattern = /^-?\d+$/;
const numberPattern = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
/** The pattern of `z.iso.datetime({ offset: true })`. The schema itself is slower: it creates an error for each mismatch. */
const datePattern = regexes.datetime({ offset: true });

/** Parses a date-time (RFC 3339); `undefined` for any other string. */
export const dateOf = (value: string): Date | undefined =>
  datePattern.test(value) ? new Date(value) : undefined;

const exactNumber = (form: RegExp) => (text: string) => {
  const value = Number(text);
  // Hot path: most are integers as JavaScript writes them, which every form allows.
  if (Number.isSafeInteger(value) && String(value) === text) return value;
  return isExactNumber(text, value) && form.test(text) ? value : notConvertible;
};

/** Whether a decimal literal was parsed to a double without loss. */
export function isExactNumber(literal: string, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  const text = String(value);
  return literal === text || canonicalDecimal(literal) === canonicalDecimal(text);
}

/** Returns the same text for all decimal literals of one number: `1.50` and `15e-1`. */
function canonicalDecimal(decimal: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(decimal);
  if (match === null) return decimal;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = whole + fraction;
  // Loops, not /0+$/: that pattern takes quadratic time for a megabyte of zeros followed by another digit.
  let start = 0;
  while (digits[start] === '0') start += 1;
  let end = digits.length;
  while (end > start && digits[end - 1] === '0') end -= 1;
  if (start === end) return '0';
  return `${sign}${digits.slice(start, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}

const createConverter = (
  expected: string,
  expects: string,
  samples: readonly string[],
  convert: (text: string) => unknown,
): Converter => ({
  expects,
  samples,
  convert,
  issue: { code: 'invalid_type', expected },
  isInteger: expected === 'int',
});

const stringSamples = ['', 'a', '5', '5.5', 'true', '2026-01-01T00:00:00Z'];
const stringConverter = createConverter('string', 'a string', stringSamples, (value) => value);
const integerConverter: Converter = {
  ...createConverter('int', 'an integer, such as 42 or -7', ['5', '-5'], exactNumber(integerPattern)),
  expectsBriefly: 'an integer',
};
const numberConverter = createConverter(
  'number',
  'a number',
  ['5', '-5', '5.5', '1e3'],
  exactNumber(numberPattern),
);
const absentConverter = createConverter('undefined', 'absent', [], () => notConvertible);

/** The converters by type. The checks of a schema do not matter. */
const converterOfType: Readonly<Record<string, Converter | undefined>> = {
  string: stringConverter,
  number: numberConverter,
  integer: integerConverter,
  bigint: createConverter('bigint', 'an integer', ['5', '-5'], (value) =>
    integerPattern.test(value) ? BigInt(value) : notConvertible,
  ),
  boolean: createConverter(
    'boolean',
    'true or false',
    ['true', 'false'],
    (value) => value === 'true' || (value === 'false' ? false : notConvertible),
  ),
  date: createConverter('date', 'a date-time (RFC 3339)', ['2026-01-01T00:00:00Z'], dateOf),
  null: absentConverter,
  undefined: absentConverter,
  void: absentConverter,
};

/** The reasons why other types cannot be converted. */
const needsJson = 'which text cannot represent; send it in a JSON body, by POST';
const unconvertibleReasons: Readonly<Record<string, string | undefined>> = {
  File: 'is a File; use z.file()',
  object: `is an object or an array of objects, ${needsJson}`,
  array: `is an array of arrays, ${needsJson}`,
  'array of a union': `is a union with an array, which text cannot tell from one value; use an array alone, or send it in a JSON body, by POST`,
  tuple: `is a tuple, ${needsJson}, or use z.array(…)`,
  pipe: 'is a z.preprocess(…), to which text cannot be converted unambiguously; use a codec, such as z.codec(z.string(), …), or send it in a JSON body',
  set: 'is a set; use an array',
  bytes:
    'is bytes, which only a whole body can be; use POST or PUT, and put the other properties in the query',
  file: 'is a file, which only multipart/form-data supports; remove the other content types',
};

type Scalar = string | number | bigint | boolean | symbol | null | undefined;
const isScalar = (value: unknown): value is Scalar => typeof value !== 'object' || value === null;

function constantConverter(values: readonly Scalar[]): Converter {
  const byText = new Map<string, unknown>();
  for (const value of values) {
    if (value === null || value === undefined) continue;
    const key = String(value);
    if (byText.has(key) && byText.get(key) !== value) {
      reject(
        `has the values ${JSON.stringify(key)} and ${key}, which are the same text in a URL; remove one of them`,
      );
    }
    byText.set(key, value);
  }
  const keys = [...byText.keys()];
  const quoted = keys.map((key) => JSON.stringify(key)).join(', ');
  return {
    expects: `one of ${quoted}`,
    ...(keys.length === 1 && { expectsBriefly: quoted }),
    samples: keys,
    convert: (value) => byText.get(value),
    issue: { code: 'invalid_value', values },
    isInteger: false,
  };
}

const briefly = ({ expects, expectsBriefly = expects }: Converter) => expectsBriefly;

function unionConverter(options: readonly Converter[]): Converter {
  const samples = options.flatMap((option) => option.samples);
  for (const sample of samples) {
    const [one, ...others] = options.filter((option) => option.convert(sample) !== notConvertible);
    const other = others.find((option) => !isSameValue(option.convert(sample), one?.convert(sample)));
    if (one && other) {
      reject(
        `is a union in which ${JSON.stringify(sample)} could be ${briefly(one)} or ${briefly(other)}; use a schema that allows only one of them`,
      );
    }
  }
  // `null` and `undefined` cannot be written as a string.
  const convertible = options.filter((option) => option.samples.length > 0);
  const expected = [...new Set((convertible.length > 0 ? convertible : options).map(briefly))];
  const expectsBriefly = expected.join(' or ');
  return {
    expects: expected.length === 1 ? (convertible[0]?.expects ?? expectsBriefly) : expectsBriefly,
    expectsBriefly,
    samples,
    convert: (value) =>
      options.map((option) => option.convert(value)).find((result) => result !== notConvertible),
    issue: { code: 'invalid_union', errors: [] },
    isInteger: options.every((option) => option.isInteger),
  };
}

/** Whether two values that were converted from one string are equal; works for dates too. */
const isSameValue = (one: unknown, other: unknown) =>
  typeof one === typeof other && String(one) === String(other);

const fileConverter = createConverter('file', 'a file', [], (value) => value);

/** Passes text on as it is. */
export const textConverter: ParameterConverter = { ...stringConverter, isRepeated: false, isFile: false };

export interface ConversionOptions {
  readonly canBeFile?: boolean;
  /** Whether text is passed on, and `convertLeniently` converts the whole input. */
  readonly isLenient?: boolean | undefined;
  /** Whether there is a JSON body too, which has `null`. */
  readonly canBeNull?: boolean;
}

/** Converts strictly, unless lenient: nothing is trimmed, rounded or guessed. @throws {GatewayError} */
export function parameterConverter(
  schema: Schema,
  { canBeFile = false, canBeNull = false, isLenient = false }: ConversionOptions = {},
): ParameterConverter {
  const items = itemsOf(schema);
  const item = items ?? schema;
  const isFile = canBeFile && typeOf(innermost(item) ?? {}) === 'file';
  const converter = isFile ? fileConverter : isLenient ? textConverter : scalarConverter(item);
  if (!canBeNull && !isLenient) rejectNull(schema);
  return { ...converter, isRepeated: items !== undefined, isFile };
}

/** @throws {GatewayError} for a schema with `null` that cannot be absent instead */
export function rejectNull(schema: Schema): void {
  if (acceptsNull(itemsOf(schema) ?? {})) reject(`is an array whose items may be null, ${needsJson}`);
  if (!requiresNull(schema)) return;
  reject(
    'is required and may be null, which text cannot represent; make it optional (.nullish()), but not in a path, or send it in a JSON body, by POST',
  );
}

/** Returns the schema of the items of an array; `undefined` for a tuple and any other schema. */
export function itemsOf(schema: Schema): Schema | undefined {
  const inner = innermost(schema) ?? {};
  if (typeOf(inner) !== 'array' || inner.prefixItems) return undefined;
  return typeof inner.items === 'object' ? inner.items : {};
}

/** @throws {GatewayError} if a string cannot be converted unambiguously */
export function scalarConverter(schema: Schema, depth = 0): Converter {
  const inner = innermost(schema);
  if (inner === undefined || depth > maxDepth) {
    reject(`is recursive, ${needsJson}`);
  }
  const values = valuesOf(inner);
  if (values?.every(isScalar)) return constantConverter(values);
  const type = typeOf(inner);
  const members = type === undefined ? membersOf(inner) : undefined;
  if (members) return unionConverter(members.map((member) => scalarConverter(member, depth + 1)));
  if (isNever(inner)) return absentConverter;
  // Several checks of one string or number.
  const part = type === undefined && inner.allOf?.find((each) => typeOf(innermost(each) ?? {}) !== undefined);
  if (part) return scalarConverter(part, depth + 1);
  if (type === 'number' && isInteger(inner)) return integerConverter;
  const name =
    binaryKind(inner) ??
    (type === 'array' && inner.prefixItems ? 'tuple' : undefined) ??
    (type === 'array' && depth > 0 ? 'array of a union' : undefined) ??
    type ??
    (inner.allOf ? 'intersection' : 'unknown');
  return (
    converterOfType[name] ??
    reject(
      unconvertibleReasons[name] ??
        `is of the type "${name}", to which text cannot be converted unambiguously; use a codec, such as z.codec(z.string(), …), or send it in a JSON body`,
    )
  );
}

/** Whether all multiples that a schema accepts are integers. */
const isInteger = (schema: Schema): boolean =>
  [schema, ...(schema.allOf ?? [])].some(({ multipleOf }) => Number.isInteger(multipleOf));
