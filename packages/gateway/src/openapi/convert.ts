import { z } from 'zod';
import { regexes } from 'zod/v4/core';
import { isExact } from '../http/exactNumber.ts';
import { reject } from './unservable.ts';
import { innermost, maxDepth } from './zodSchema.ts';

/** The result of a converter for a text that its schema's type cannot be written as: no text is converted to it. */
export const notConvertible = undefined;

/** Turns the text of a path segment, a query parameter or a form field into the value that a schema takes. */
export interface Converter {
  /** What the text must be, in words that follow "must be". */
  readonly expects: string;
  /** The same as one of several: without an example. */
  readonly expectsBriefly?: string;
  readonly convert: (text: string) => unknown;
  /** zod's issue with a value of another type, without its path and message. */
  readonly issue: { readonly code: string; readonly [detail: string]: unknown };
  /** Whether the values are whole numbers. */
  readonly integer: boolean;
  /** Samples of every kind of text that it converts: where two converters differ on one, a union would guess. */
  readonly samples: readonly string[];
}

export interface ParameterConverter extends Converter {
  /** Whether the parameter may be repeated (an array). */
  readonly repeated: boolean;
  /** Whether it is a file, which is taken as it is. */
  readonly isFile: boolean;
}

/** As the schemas of integers take it: nothing is trimmed or rounded. */
export const integerText = /^-?\d+$/;
const numberText = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
/** As `z.iso.datetime({ offset: true })`, which builds an error for each text that does not match. */
const dateText = regexes.datetime({ offset: true });

/** The date of a date-time in the form of RFC 3339; `undefined` for any other text. */
export const dateOf = (value: string): Date | undefined =>
  dateText.test(value) ? new Date(value) : undefined;

const exactNumber = (form: RegExp) => (text: string) => {
  const value = Number(text);
  return form.test(text) && isExact(text, value) ? value : notConvertible;
};

const converter = (
  expected: string,
  expects: string,
  samples: readonly string[],
  convert: (text: string) => unknown,
): Converter => ({
  expects,
  samples,
  convert,
  issue: { code: 'invalid_type', expected },
  integer: expected === 'int',
});

const texts = ['', 'a', '5', '5.5', 'true', '2026-01-01T00:00:00Z'];
const text = converter('string', 'a string', texts, (value) => value);
const integer: Converter = {
  ...converter('int', 'an integer, such as 42 or -7', ['5', '-5'], exactNumber(integerText)),
  expectsBriefly: 'an integer',
};
const number = converter('number', 'a number', ['5', '-5', '5.5', '1e3'], exactNumber(numberText));
const nothing = converter('undefined', 'absent', [], () => notConvertible);

/** The converters of types that have one, whatever their checks. */
const converters: Readonly<Record<string, Converter | undefined>> = {
  string: text,
  template_literal: text,
  bigint: converter('bigint', 'an integer', ['5', '-5'], (value) =>
    integerText.test(value) ? BigInt(value) : notConvertible,
  ),
  boolean: converter(
    'boolean',
    'true or false',
    ['true', 'false'],
    (value) => value === 'true' || (value === 'false' ? false : notConvertible),
  ),
  date: converter('date', 'a date-time (RFC 3339)', ['2026-01-01T00:00:00Z'], dateOf),
  null: nothing,
  undefined: nothing,
  void: nothing,
  never: nothing,
};

const isObject = 'is an object, which a URL cannot carry; name each of its fields as a parameter';
const isNestedArray = 'is an array within an array, which a URL cannot carry';

/** Why other types have none. */
const reasons: Readonly<Record<string, string | undefined>> = {
  object: isObject,
  record: isObject,
  file: 'is a file, which multipart/form-data alone can carry: list no other content type',
  array: isNestedArray,
  tuple: isNestedArray,
};

function literals(values: readonly z.core.util.Literal[]): Converter {
  const byText = new Map<string, unknown>();
  for (const value of values) {
    if (value === null || value === undefined) continue;
    const key = String(value);
    if (byText.has(key) && byText.get(key) !== value) {
      reject(`has the values ${JSON.stringify(key)} and ${key}, which look the same in a URL`);
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
    integer: false,
  };
}

const brief = ({ expects, expectsBriefly = expects }: Converter) => expectsBriefly;

function union(options: readonly Converter[]): Converter {
  const samples = options.flatMap((option) => option.samples);
  for (const sample of samples) {
    const [one, ...others] = options.filter((option) => option.convert(sample) !== notConvertible);
    const other = others.find((option) => !isSame(option.convert(sample), one?.convert(sample)));
    if (one && other) {
      reject(
        `is a union in which ${JSON.stringify(sample)} could be ${brief(one)} or ${brief(other)}; ` +
          'use a schema with one reading',
      );
    }
  }
  // Not `null` and `undefined`, which have no text.
  const convertible = options.filter((option) => option.samples.length > 0);
  const expected = [...new Set((convertible.length > 0 ? convertible : options).map(brief))];
  const expectsBriefly = expected.join(' or ');
  return {
    expects: expected.length === 1 ? (convertible[0]?.expects ?? expectsBriefly) : expectsBriefly,
    expectsBriefly,
    samples,
    convert: (value) =>
      options.map((option) => option.convert(value)).find((result) => result !== notConvertible),
    issue: { code: 'invalid_union', errors: [] },
    integer: options.every((option) => option.integer),
  };
}

/** Whether two values of one text are the same: two dates are. */
const isSame = (one: unknown, other: unknown) => typeof one === typeof other && String(one) === String(other);

const file = converter('file', 'a file', [], (value) => value);

/**
 * The converter of a schema's own type, strict: nothing is trimmed, rounded or guessed. The schema itself is not
 * changed; it checks the value afterwards.
 * @param isMultipart whether files can be sent
 * @throws {Unservable} where a text cannot be converted without guessing
 */
export function parameterConverter(schema: z.core.$ZodType, isMultipart = false): ParameterConverter {
  const def = innermost(schema)?._zod.def;
  if (def?.type === 'set') reject('is a set; use an array');
  const repeated = def?.type === 'array';
  const item = repeated ? def.element : schema;
  const isFile = isMultipart && innermost(item)?._zod.def.type === 'file';
  return { ...(isFile ? file : scalarConverter(item)), repeated, isFile };
}

/** @throws {Unservable} where a text cannot be converted without guessing */
export function scalarConverter(schema: z.core.$ZodType, depth = 0): Converter {
  const inner = innermost(schema);
  if (inner === undefined || depth > maxDepth) {
    reject('contains itself, which a URL cannot carry');
  }
  const { def } = inner._zod;
  switch (def.type) {
    case 'number':
      return isInteger(inner) ? integer : number;
    case 'enum':
      return literals(Object.values(def.entries));
    case 'literal':
      return literals(def.values);
    case 'union':
      return union(def.options.map((option) => scalarConverter(option, depth + 1)));
    default: {
      const reason = `is of the kind "${def.type}", which a text cannot be converted to without guessing; use a codec, such as z.codec(z.string(), …), or send it in a JSON body`;
      return converters[def.type] ?? reject(reasons[def.type] ?? reason);
    }
  }
}

/** Whether all numbers that a schema takes are integers: of `z.int()`, and of multiples of an integer. */
function isInteger(schema: z.core.$ZodType): boolean {
  const json = z.toJSONSchema(schema, { metadata: z.registry() });
  return (
    json.type === 'integer' || [json, ...(json.allOf ?? [])].some((part) => Number.isInteger(part.multipleOf))
  );
}
