import { TRPCError } from '@trpc/server';
import type { z } from 'zod';
import { isDeeper, tooDeep } from '../../procedures/jsonDepth.ts';
import { refuseLongForm, refuseLongQuery } from '../../policies/queryParameters.ts';
import { isObject } from '../../http/isObject.ts';
import type { Limits } from '../../policies/limits.ts';
import { refused } from '../../openapi/convert.ts';
import { parseExactJson } from './exactJson.ts';
import { formFields } from './formFields.ts';
import { readDates } from '../../openapi/jsonDates.ts';
import { inputError, type InputIssue } from '../../procedures/inputError.ts';
import type { BodyShape, Parameter, Route } from '../../openapi/route.ts';

/** The parts of a request that hold its input, as they came. */
export interface RawInput {
  /** The path parameters' texts, decoded, in the template's order; `undefined` where one is not valid UTF-8. */
  readonly parameters: readonly (string | undefined)[];
  readonly query: string;
  readonly body: RawBody | undefined;
  /** The `Last-Event-ID` header of a subscription. */
  readonly lastEventId?: string | undefined;
}

/** A body as far as it can be read without knowing the route. */
export type RawBody =
  | { readonly kind: 'json' | 'form'; readonly bytes: Uint8Array }
  | { readonly kind: 'multipart'; readonly fields: FormData };

type InputLimits = Pick<Limits, 'maxJsonDepth' | 'maxQueryParameters'>;

/**
 * Makes a procedure's input of a request. Texts are converted as their schemas' types ask; a JSON body is taken as it is, but
 * for dates, which JSON carries as texts.
 * @returns an object, or `undefined` where the input may be absent and none of it was sent
 * @throws {TRPCError} `BAD_REQUEST` that names each field, `NOT_FOUND` where an id is well-formed but beyond what can exist
 * @throws {LimitError} `query-parameters`, `json-depth`
 */
export function readInput(
  route: Route,
  raw: RawInput,
  limits: InputLimits,
): Record<string, unknown> | undefined {
  const issues: InputIssue[] = [];
  const input = route.body ? readBody(route.body, raw.body, issues, limits) : {};
  if (route.queryParameters.size > 0) {
    const { queryParameters } = route;
    refuseLongQuery(raw.query, limits.maxQueryParameters);
    readFields(
      queryParameters,
      formFields(raw.query, (name) => queryParameters.has(name)),
      input,
      issues,
    );
  }
  const resumed = route.queryParameters.get('lastEventId');
  if (resumed && raw.lastEventId !== undefined) {
    input[resumed.name] = convert(resumed, raw.lastEventId, issues);
  }

  let isBeyondIds = false;
  const { pathParameters } = route;
  for (let index = 0; index < pathParameters.length; index += 1) {
    const parameter = pathParameters[index] as Parameter;
    const text = raw.parameters[index];
    if (text !== undefined && isUnsafeInt64(parameter, text)) isBeyondIds = true;
    else input[parameter.name] = convert(parameter, text, issues);
  }

  if (issues.length > 0) throw inputError([...issues, ...otherIssues(route, input, issues)]);
  if (isBeyondIds)
    throw new TRPCError({ code: 'NOT_FOUND', message: 'There is nothing with this identifier.' });
  const isAbsent = route.isInputOptional && raw.body === undefined && Object.keys(input).length === 0;
  return isAbsent ? undefined : input;
}

function readBody(
  shape: BodyShape,
  body: RawInput['body'],
  issues: InputIssue[],
  { maxJsonDepth, maxQueryParameters }: InputLimits,
): Record<string, unknown> {
  if (body === undefined) return {};
  if (body.kind === 'multipart') return readMultipart(shape, body.fields, issues);
  const text = decode(body.bytes);
  if (body.kind === 'form') {
    refuseLongForm(text, maxQueryParameters);
    const input = {};
    const { fields } = shape;
    readFields(
      fields,
      formFields(text, (name) => fields.has(name)),
      input,
      issues,
    );
    return input;
  }
  const value = parseExactJson(text, (name) => Object.hasOwn(shape.shape, name));
  if (isObject(value)) {
    // Nobody else has it.
    const input = value as Record<string, unknown>;
    // What nobody reads may be anything, here too. The body itself is the first level.
    for (const name in shape.shape) {
      if (isDeeper(input[name], maxJsonDepth - 1)) throw tooDeep(maxJsonDepth);
    }
    for (const name of shape.dates) {
      if (Object.hasOwn(input, name))
        input[name] = readDates(shape.shape[name] as z.core.$ZodType, input[name]);
    }
    return input;
  }
  issues.push({
    code: 'invalid_type',
    expected: 'object',
    path: [],
    message: 'the body must be a JSON object',
  });
  return {};
}

function readMultipart(
  { fields, files }: BodyShape,
  form: FormData,
  issues: InputIssue[],
): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  const texts = new Map<string, string[]>();
  // Not the form's own names: each look-up goes through all its entries, and a client may send thousands.
  for (const name of [...fields.keys(), ...files.keys()]) {
    const values = form.getAll(name);
    if (values.length === 0) continue;
    const given = values.filter((value) => typeof value === 'string');
    const file = files.get(name);
    if (given.length !== (file ? 0 : values.length)) {
      const issue = { code: 'invalid_type', expected: file ? 'file' : 'string', path: [name] };
      issues.push({ ...issue, message: file ? 'must be a file' : 'must be a text, not a file' });
    } else if (file?.repeated) {
      input[name] = values;
    } else if (values.length > 1 && file) {
      issues.push({
        code: 'invalid_type',
        expected: 'file',
        path: [name],
        message: 'is given more than once',
      });
    } else if (file) {
      [input[name]] = values;
    } else {
      texts.set(name, given);
    }
  }
  readFields(fields, texts, input, issues);
  return input;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new TRPCError({ code: 'BAD_REQUEST', message: 'The body is not valid UTF-8.', cause });
  }
}

function readFields(
  parameters: ReadonlyMap<string, Parameter>,
  texts: ReadonlyMap<string, readonly (string | undefined)[]>,
  input: Record<string, unknown>,
  issues: InputIssue[],
): void {
  for (const [name, values] of texts) {
    // Only known names are given, each with a value.
    const parameter = parameters.get(name) as Parameter;
    if (parameter.converter.repeated) {
      input[name] = values.map((value) => convert(parameter, value, issues));
    } else if (values.length > 1) {
      issues.push({ ...parameter.converter.issue, path: [name], message: 'is given more than once' });
    } else {
      input[name] = convert(parameter, values[0], issues);
    }
  }
}

function convert({ name, converter }: Parameter, text: string | undefined, issues: InputIssue[]): unknown {
  if (text === undefined) {
    issues.push({
      code: 'invalid_format',
      format: 'utf-8',
      path: [name],
      message: 'is not valid percent-encoded UTF-8',
    });
    return undefined;
  }
  const value = converter.convert(text);
  if (value !== refused) return value;
  const isTooLong = converter.integer && /^-?\d+$/.test(text);
  issues.push({
    ...converter.issue,
    path: [name],
    message: isTooLong
      ? 'is beyond ±(2^53−1), which cannot be carried exactly'
      : `must be ${converter.expects}`,
  });
  return undefined;
}

const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

/** A well-formed int64 that a double cannot carry: no resource has it as its id, so it names nothing. */
function isUnsafeInt64({ converter }: Parameter, text: string): boolean {
  // At most 15 digits are no more than ±(2^53−1).
  if (text.length < 16 || !converter.integer || !/^-?\d+$/.test(text)) return false;
  if (Number.isSafeInteger(Number(text))) return false;
  const value = BigInt(text);
  return value >= int64.min && value <= int64.max;
}

/** What the schemas have against the other fields: an answer names every offending field, not the first alone. */
function otherIssues(
  route: Route,
  input: Record<string, unknown>,
  found: readonly InputIssue[],
): InputIssue[] {
  const named = new Set(found.map(({ path }) => path[0]));
  if (named.has(undefined)) return [];
  const schemas = Object.entries(route.body?.shape ?? {}).concat(
    [...route.queryParameters.values(), ...route.pathParameters].map(({ name, schema }) => [name, schema]),
  );
  return schemas
    .filter(([name]) => !named.has(name))
    .flatMap(([name, schema]) =>
      schemaIssues(schema, input[name]).map((issue) => Object.assign(issue, { path: [name, ...issue.path] })),
    );
}

function schemaIssues(schema: z.core.$ZodType, value: unknown): readonly InputIssue[] {
  // A schema with an asynchronous check gives a promise: it is left out, since the answer is a 400 already.
  const result = schema['~standard'].validate(value);
  if (result instanceof Promise) {
    result.catch(() => undefined);
    return [];
  }
  return (result.issues ?? []) as readonly InputIssue[];
}
