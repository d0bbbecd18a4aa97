// Hot path: every REST call with an input runs through it.
import { TRPCError } from '@trpc/server';
import { integerPattern } from '../../operations/convert.ts';
import type { HttpRequest } from '../../http/request.ts';
import { readDates } from '../../operations/jsonDates.ts';
import type { Operation } from '../../operations/operation.ts';
import { isZod, type StandardSchema } from '../../procedures/standardSchema.ts';
import type { TextParameter } from '../../operations/parameter.ts';
import { rejectManyParameters } from '../../calls/queryParameters.ts';
import { inputError, toIssue, type InputIssue } from '../../procedures/inputError.ts';
import { convertRest, convertText } from './convertText.ts';
import { convertFields, type FormFields } from './formFields.ts';
import { convertHeaders } from './headerFields.ts';
import { readBody, readWholeBody, type InputLimits, type RawBody } from './readBody.ts';

/** The parts of a request that contain its input, not converted yet. */
export interface RawInput {
  /** The texts of the path parameters (`PathMatch.parameters`). */
  readonly parameters: readonly (string | undefined)[];
  readonly request: HttpRequest;
  /** The known fields of the query. */
  readonly queryFields: FormFields;
  readonly body: RawBody | undefined;
}

/**
 * Reads a procedure's input from a request. Texts are converted to the types of their schemas. A JSON body is used
 * without conversion, except for dates, which JSON represents as strings.
 * @returns `undefined` if the input is optional and no part of it was sent
 * @throws {TRPCError} `BAD_REQUEST` that names each field, `NOT_FOUND` for a well-formed id that is too large to exist
 * @throws {LimitError} `query-parameters`, `json-depth`
 */
export function readInput(
  { input: description, output }: Operation,
  raw: RawInput,
  limits: InputLimits,
): unknown {
  const { body, headers, path, query } = description;
  if (body?.isWhole) return raw.body && withDates(description, readWholeBody(raw.body, limits));
  const issues: InputIssue[] = [];
  const input = body && raw.body ? readBody(body, raw.body, issues, limits) : {};
  if (query.size > 0) {
    rejectManyParameters(raw.request.query, limits.maxQueryParameters);
    convertFields(query, raw.queryFields, input, issues, limits.maxJsonDepth);
    const lastEventId = output.kind === 'events' ? raw.request.header('last-event-id') : undefined;
    const parameter = lastEventId === undefined ? undefined : query.get('lastEventId');
    if (parameter?.style === 'single') {
      input[parameter.field] = convertText(parameter.converter, lastEventId, parameter.field, issues);
    }
  }
  if (headers.length > 0) convertHeaders(headers, raw.request, input, issues);

  let isIdTooLarge = false;
  /** Issues of ids that are too large: they are reported only beside others, since such an id is 404. */
  let idIssues = 0;
  for (let index = 0; index < path.length; index += 1) {
    const parameter = path[index] as TextParameter;
    const text = raw.parameters[index];
    if (parameter.style === 'rest') {
      input[parameter.field] = convertRest(parameter, text ?? '', issues);
      continue;
    }
    const otherCount = issues.length;
    input[parameter.field] = convertText(parameter.converter, text, parameter.field, issues);
    // Up to 15 digits are within ±(2^53−1).
    if (text === undefined || text.length < 16 || !isUnsafeInt64(parameter, text)) continue;
    isIdTooLarge = true;
    idIssues += issues.length - otherCount;
  }

  if (issues.length > idIssues) {
    throw inputError([
      ...issues,
      ...otherIssues(description, withDates(description, input) as object, issues),
    ]);
  }
  if (isIdTooLarge) {
    throw new TRPCError({ code: 'NOT_FOUND', message: 'There is no resource with this identifier.' });
  }
  const isAbsent = description.isOptional && raw.body === undefined && Object.keys(input).length === 0;
  if (isAbsent) return undefined;
  return description.dateSchemas.length === 0 ? input : withDates(description, input);
}

/** Converts the dates of a JSON body. */
const withDates = ({ dateSchemas }: Operation['input'], input: unknown): unknown =>
  dateSchemas.reduce((value, schema) => readDates(schema, value), input);

/** Whether a text is a well-formed int64 that a double cannot represent exactly. No resource has an id like that. */
function isUnsafeInt64({ converter }: TextParameter, text: string): boolean {
  if (!converter.isInteger || !integerPattern.test(text)) return false;
  return !Number.isSafeInteger(Number(text)) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

/** Validates the remaining fields with the procedure's schemas, so that the error lists every invalid field. */
function otherIssues(
  { parsers }: Operation['input'],
  input: object,
  reported: readonly InputIssue[],
): readonly InputIssue[] {
  const named = new Set(reported.map(({ path }) => path[0]));
  if (named.has(undefined)) return [];
  // Invalid rather than absent, so that no check of several fields runs with some of them missing.
  const invalid = Object.fromEntries([...named].map((name) => [name, Symbol('invalid')]));
  return parsers
    .flatMap((parser) => schemaIssues(parser, { ...input, ...invalid }))
    .filter(({ path }) => path.length > 0 && !named.has(path[0]));
}

function schemaIssues(parser: StandardSchema, value: unknown): readonly InputIssue[] {
  const result = parser['~standard'].validate(value);
  if (result instanceof Promise) {
    // Issues of an asynchronous check are left out: the response is a 400 anyway.
    result.catch(() => undefined);
    return [];
  }
  const { issues = [] } = result;
  return isZod(parser) ? (issues as readonly InputIssue[]) : issues.map(toIssue);
}
