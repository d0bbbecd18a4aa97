import { z } from 'zod';
import { isExact } from '../http/exactNumber.ts';
import { innermost, maxDepth } from './zodSchema.ts';

/** The result of a converter for a text that its schema's type cannot be written as. */
export const notConvertible: unique symbol = Symbol('notConvertible');

/** Turns the text of a path segment, a query parameter or a form field into the value that a schema takes. */
interface Converter {
  /** What the text must be, in words that follow "must be". */
  readonly expects: string;
  readonly convert: (text: string) => unknown;
  /** zod's issue with a value of another type, without its path and message. */
  readonly issue: TypeIssue;
  /** Whether the values are whole numbers. */
  readonly integer: boolean;
  /** Samples of every kind of text that it converts: where two converters differ on one, a union would guess. */
  readonly samples: readonly string[];
}

type TypeIssue = { readonly code: string } & Readonly<Record<string, unknown>>;

/** A converter for a schema, and whether its parameter may be repeated (an array). */
export interface ParameterConverter extends Converter {
  readonly repeated: boolean;
}

/** A property of the input that is sent as text: in the path, in the query, or as a form's field. */
export interface Parameter {
  readonly name: string;
  readonly schema: z.core.$ZodType;
  readonly converter: ParameterConverter;
}

/** Why a schema has no converter, in words that follow the parameter's name. */
export class NotConvertible extends Error {}

const converter = (
  expects: string,
  samples: readonly string[],
  convert: (text: string) => unknown,
  issue: TypeIssue,
  integer = false,
): Converter => ({ expects, samples, convert, issue, integer });

const typeIssue = (expected: string): TypeIssue => ({ code: 'invalid_type', expected });

/** As the schemas of integers take it: nothing is trimmed or rounded. */
export const integerText = /^-?\d+$/;
const numberText = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
/** As `z.iso.datetime({ offset: true })`, which builds an error for each text that does not match. */
const dateText = z.core.regexes.datetime({ offset: true });

/** The date of a date-time in the form of RFC 3339; `undefined` for any other text. */
export const dateOf = (value: string): Date | undefined =>
  dateText.test(value) ? new Date(value) : undefined;

function exactNumber(value: string): unknown {
  const parsed = Number(value);
  return isExact(value, parsed) ? parsed : notConvertible;
}

const text = converter(
  'a string',
  ['', 'a', '5', '5.5', 'true', '2026-01-01T00:00:00Z'],
  (value) => value,
  typeIssue('string'),
);

const integer = converter(
  'an integer, such as 42 or -7',
  ['5', '-5'],
  (value) => (integerText.test(value) ? exactNumber(value) : notConvertible),
  typeIssue('int'),
  true,
);

const number = converter(
  'a number',
  ['5', '-5', '5.5', '1e3'],
  (value) => (numberText.test(value) ? exactNumber(value) : notConvertible),
  typeIssue('number'),
);

const bigint = converter(
  'an integer',
  ['5', '-5'],
  (value) => (integerText.test(value) ? BigInt(value) : notConvertible),
  typeIssue('bigint'),
);

const boolean = converter(
  'true or false',
  ['true', 'false'],
  (value) => (value === 'true' ? true : value === 'false' ? false : notConvertible),
  typeIssue('boolean'),
);

const date = converter(
  'a date-time (RFC 3339)',
  ['2026-01-01T00:00:00Z'],
  (value) => dateOf(value) ?? notConvertible,
  typeIssue('date'),
);

const nothing = converter('absent', [], () => notConvertible, typeIssue('undefined'));

function literals(values: readonly z.core.util.Literal[]): Converter {
  const byText = new Map<string, unknown>();
  for (const value of values) {
    if (value === null || value === undefined) continue;
    const key = String(value);
    if (byText.has(key) && byText.get(key) !== value) {
      throw new NotConvertible(
        `has the values ${JSON.stringify(key)} and ${key}, which look the same in a URL`,
      );
    }
    byText.set(key, value);
  }
  const keys = [...byText.keys()];
  return converter(
    `one of ${keys.map((key) => JSON.stringify(key)).join(', ')}`,
    keys,
    (value) => (byText.has(value) ? byText.get(value) : notConvertible),
    { code: 'invalid_value', values },
  );
}

function union(options: readonly Converter[]): Converter {
  for (const [index, one] of options.entries()) {
    for (const other of options.slice(index + 1)) {
      const clash = [...one.samples, ...other.samples].find((sample) => {
        const values = [one.convert(sample), other.convert(sample)];
        return !values.includes(notConvertible) && !Object.is(values[0], values[1]) && !areEqualDates(values);
      });
      if (clash !== undefined) {
        throw new NotConvertible(
          `is a union in which ${JSON.stringify(clash)} could be ${one.expects} or ${other.expects}; ` +
            'use a schema with one reading',
        );
      }
    }
  }
  return converter(
    options.map(({ expects }) => expects).join(' or '),
    options.flatMap(({ samples }) => samples),
    (value) => {
      for (const option of options) {
        const converted = option.convert(value);
        if (converted !== notConvertible) return converted;
      }
      return notConvertible;
    },
    { code: 'invalid_union', errors: [] },
    options.every((option) => option.integer),
  );
}

const areEqualDates = (values: readonly unknown[]) => values.every((value) => value instanceof Date);

/**
 * The converter of a schema's own type, strict: nothing is trimmed, rounded or guessed. The schema itself is not
 * changed; it checks the value afterwards.
 * @throws {NotConvertible} where a text cannot be converted without guessing
 */
export function parameterConverter(schema: z.core.$ZodType): ParameterConverter {
  const def = innermost(schema)?._zod.def;
  if (def?.type === 'set') throw new NotConvertible('is a set; use an array');
  const isArray = def?.type === 'array';
  return { ...scalarConverter(isArray ? def.element : schema), repeated: isArray };
}

function scalarConverter(schema: z.core.$ZodType, depth = 0): Converter {
  const inner = innermost(schema);
  if (inner === undefined || depth > maxDepth) {
    throw new NotConvertible('contains itself, which a URL cannot carry');
  }
  const { def } = inner._zod;
  switch (def.type) {
    case 'string':
    case 'template_literal':
      return text;
    case 'number':
      return isInteger(def) ? integer : number;
    case 'bigint':
      return bigint;
    case 'boolean':
      return boolean;
    case 'date':
      return date;
    case 'enum':
      return literals(Object.values(def.entries));
    case 'literal':
      return literals(def.values);
    case 'null':
    case 'undefined':
    case 'void':
    case 'never':
      return nothing;
    case 'union':
      return union(def.options.map((option) => scalarConverter(option, depth + 1)));
    case 'object':
    case 'record':
      throw new NotConvertible(
        'is an object, which a URL cannot carry; name each of its fields as a parameter',
      );
    case 'file':
      throw new NotConvertible(
        'is a file, which multipart/form-data alone can carry: list no other content type',
      );
    case 'array':
    case 'tuple':
      throw new NotConvertible('is an array within an array, which a URL cannot carry');
    default:
      throw new NotConvertible(
        `is of the kind "${def.type}", which a text cannot be converted to without guessing`,
      );
  }
}

// z.int() says so in its definition; z.number().int() and .multipleOf(1) in their checks. zod's classes have `isInt`, the
// ones of zod/mini have not.
function isInteger(def: z.core.$ZodNumberDef): boolean {
  const checks = [def, ...(def.checks ?? []).map((check) => check._zod.def)];
  return checks.some(
    (check) =>
      ('format' in check && /^(?:u?int|safeint)/.test(String(check.format))) ||
      ('check' in check &&
        check.check === 'multiple_of' &&
        'value' in check &&
        Number.isInteger(check.value)),
  );
}
