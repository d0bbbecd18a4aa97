import { TRPCError } from '@trpc/server';
import type { z } from 'zod';
import { refused } from './convert.ts';
import { parseExactJson } from './exactJson.ts';
import { formFields } from './formFields.ts';
import { inputError, type InputIssue } from './inputError.ts';
import type { BodyShape, Parameter, Route } from './route.ts';

/** The parts of a request that hold its input, as they came. */
export interface RawInput {
  /** The path parameters' texts, decoded, in the template's order; `undefined` where one is not valid UTF-8. */
  readonly parameters: readonly (string | undefined)[];
  readonly query: string;
  readonly body: { readonly isForm: boolean; readonly bytes: Uint8Array } | undefined;
}

/**
 * Makes a procedure's input of a request. Texts are converted as their schemas' types ask; a JSON body is taken as it is.
 * @throws {TRPCError} `BAD_REQUEST` that names each field, `NOT_FOUND` where an id is well-formed but beyond what can exist
 */
export function readInput(route: Route, raw: RawInput): Record<string, unknown> {
  const issues: InputIssue[] = [];
  const input = route.body ? readBody(route.body, raw.body, issues) : {};
  if (route.queryParameters.size > 0) readFields(route.queryParameters, raw.query, input, issues);

  let isBeyondIds = false;
  for (const [index, parameter] of route.pathParameters.entries()) {
    const text = raw.parameters[index];
    if (text !== undefined && isUnsafeInt64(parameter, text)) isBeyondIds = true;
    else input[parameter.name] = convert(parameter, text, issues);
  }

  if (issues.length > 0) throw inputError([...issues, ...otherIssues(route, input, issues)]);
  if (isBeyondIds)
    throw new TRPCError({ code: 'NOT_FOUND', message: 'There is nothing with this identifier.' });
  return input;
}

function readBody(shape: BodyShape, body: RawInput['body'], issues: InputIssue[]): Record<string, unknown> {
  if (body === undefined) return {};
  const text = decode(body.bytes);
  if (body.isForm) {
    const input = {};
    readFields(shape.fields, text, input, issues);
    return input;
  }
  const value = parseExactJson(text, (name) => Object.hasOwn(shape.shape, name));
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  issues.push({ path: [], message: 'the body must be a JSON object' });
  return {};
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
  text: string,
  input: Record<string, unknown>,
  issues: InputIssue[],
): void {
  for (const [name, values] of formFields(text, (field) => parameters.has(field))) {
    // `formFields` gives known names alone, each with a value.
    const parameter = parameters.get(name) as Parameter;
    if (parameter.converter.repeated) {
      input[name] = values.map((value) => convert(parameter, value, issues));
    } else if (values.length > 1) {
      issues.push({ path: [name], message: 'is given more than once' });
    } else {
      input[name] = convert(parameter, values[0], issues);
    }
  }
}

function convert({ name, converter }: Parameter, text: string | undefined, issues: InputIssue[]): unknown {
  if (text === undefined) {
    issues.push({ path: [name], message: 'is not valid percent-encoded UTF-8' });
    return undefined;
  }
  const value = converter.convert(text);
  if (value !== refused) return value;
  const isTooLong = converter.integer && /^-?\d+$/.test(text);
  issues.push({
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
  if (!converter.integer || !/^-?\d+$/.test(text) || Number.isSafeInteger(Number(text))) return false;
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
      schemaIssues(schema, input[name]).map(({ path, message }) => ({ path: [name, ...path], message })),
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
