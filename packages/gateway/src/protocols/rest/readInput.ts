// Hot path: every REST call with an input runs through it.
import { TRPCError } from '@trpc/server';
import type { z } from 'zod';
import { integerText, type Parameter } from '../../openapi/convert.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { Operation } from '../../openapi/operation.ts';
import { refuseLongQuery } from '../../policies/queryParameters.ts';
import { inputError, type InputIssue } from '../../procedures/inputError.ts';
import { convertFields, convertText, type FormFields } from './formFields.ts';
import { readBody, type InputLimits, type RawBody } from './readBody.ts';

/** The parts of a request that hold its input, as received. */
export interface RawInput {
  /** The path parameters' texts, decoded, in the template's order; `undefined` where one is not valid UTF-8. */
  readonly parameters: readonly (string | undefined)[];
  readonly request: HttpRequest;
  /** The known fields of the query. */
  readonly queryFields: FormFields;
  readonly body: RawBody | undefined;
}

/**
 * Reads a procedure's input from a request. Texts are converted to the types of their schemas; a JSON body is taken as it
 * is, except for dates, which JSON carries as text.
 * @returns an object, or `undefined` where the input may be absent and none of it was sent
 * @throws {TRPCError} `BAD_REQUEST` that names each field, `NOT_FOUND` for a well-formed id that is too large to exist
 * @throws {LimitError} `query-parameters`, `json-depth`
 */
export function readInput(
  operation: Operation,
  raw: RawInput,
  limits: InputLimits,
): Record<string, unknown> | undefined {
  const { body, output, pathParameters, texts } = operation;
  const issues: InputIssue[] = [];
  const input = body && raw.body ? readBody(operation, body, raw.body, issues, limits) : {};
  if (body === undefined && texts.size > 0) {
    refuseLongQuery(raw.request.query, limits.maxQueryParameters);
    convertFields(texts, raw.queryFields, input, issues);
    const lastEventId = output.kind === 'events' ? raw.request.header('last-event-id') : undefined;
    const parameter = lastEventId === undefined ? undefined : texts.get('lastEventId');
    if (parameter) input[parameter.name] = convertText(parameter, lastEventId, issues);
  }

  let isIdTooLarge = false;
  for (let index = 0; index < pathParameters.length; index += 1) {
    const parameter = pathParameters[index] as Parameter;
    const text = raw.parameters[index];
    if (text !== undefined && isUnsafeInt64(parameter, text)) isIdTooLarge = true;
    else input[parameter.name] = convertText(parameter, text, issues);
  }

  if (issues.length > 0) throw inputError([...issues, ...otherIssues(operation, input, issues)]);
  if (isIdTooLarge) {
    throw new TRPCError({ code: 'NOT_FOUND', message: 'There is nothing with this identifier.' });
  }
  const isAbsent = operation.isInputOptional && raw.body === undefined && Object.keys(input).length === 0;
  return isAbsent ? undefined : input;
}

/** Whether a text is a well-formed int64 that a double cannot carry: no resource has such an id. */
function isUnsafeInt64({ converter }: Parameter, text: string): boolean {
  // Up to 15 digits are within ±(2^53−1).
  if (text.length < 16 || !converter.integer || !integerText.test(text)) return false;
  return !Number.isSafeInteger(Number(text)) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

/** The issues that the schemas have with the other fields: an error names every offending field, not only the first. */
function otherIssues(
  { pathParameters, shape }: Operation,
  input: Record<string, unknown>,
  found: readonly InputIssue[],
): readonly InputIssue[] {
  const named = new Set(found.map(({ path }) => path[0]));
  if (named.has(undefined)) return [];
  const parameters = pathParameters.map(({ name, schema }) => [name, schema] as const);
  return [...Object.entries(shape), ...parameters]
    .filter(([name]) => !named.has(name))
    .flatMap(([name, schema]) =>
      schemaIssues(schema, input[name]).map((issue) => Object.assign(issue, { path: [name, ...issue.path] })),
    );
}

function schemaIssues(schema: z.core.$ZodType, value: unknown): readonly InputIssue[] {
  const result = schema['~standard'].validate(value);
  if (result instanceof Promise) {
    // An asynchronous check is skipped: the response is a 400 in any case.
    result.catch(() => undefined);
    return [];
  }
  return (result.issues ?? []) as readonly InputIssue[];
}
