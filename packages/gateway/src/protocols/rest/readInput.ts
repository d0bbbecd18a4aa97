// Hot path: every REST call with an input runs through it.
import { TRPCError } from '@trpc/server';
import { integerPattern } from '../../operations/convert.ts';
import type { Operation } from '../../operations/operation.ts';
import { multipartType } from '../../operations/operationBody.ts';
import { byName, type TextParameter } from '../../operations/parameter.ts';
import type { AllLimits } from '../../calls/limits.ts';
import { rejectManyParameters, tooManyFields } from '../../calls/queryParameters.ts';
import type { RequestContext } from '../../calls/requestContext.ts';
import { inputError, toIssue, type InputIssue } from '../../procedures/inputError.ts';
import { jsonError } from '../../procedures/jsonLimits.ts';
import type { StandardSchema } from '../../schemas/standardSchema.ts';
import { isZod } from '../../schemas/zodSchema.ts';
import { parseExactJson, parseLenientJson } from './exactJson.ts';
import { InputDraft } from './inputDraft.ts';
import type { RawBody } from './receiveBody.ts';
import { lenientFormDecode } from './textParameters.ts';

type InputLimits = Pick<AllLimits, 'maxJsonContainers' | 'maxJsonDepth' | 'maxQueryParameters'>;

/**
 * Reads a procedure's input from a request. Texts are converted to the types of their schemas. A JSON body is used
 * without conversion, except for dates, which JSON represents as strings.
 * @returns `undefined` if the input is optional and no part of it was sent
 * @throws {TRPCError} `BAD_REQUEST` that names each field, `NOT_FOUND` for a well-formed id that is too large to exist
 * @throws {LimitError} `query-parameters`, `json-depth`, `json-containers`
 */
export function readInput(
  { input: description, output }: Pick<Operation, 'input' | 'output'>,
  { parameters, request }: RequestContext,
  raw: RawBody | undefined,
  limits: InputLimits,
): unknown {
  const { body, headers, ignoresEmpty, isLenient, path, query } = description;
  if (body?.isWhole) return raw && convertWhole(description, readWholeBody(raw, limits));
  const draft = new InputDraft(limits.maxJsonDepth);
  if (raw) readBody(draft, description, raw, limits);
  const { issues, values: input } = draft;
  if (query.size > 0) {
    rejectManyParameters(request.query, limits.maxQueryParameters);
    const decode = isLenient ? lenientFormDecode : undefined;
    const text = ignoresEmpty ? withoutEmpty(request.query) : request.query;
    draft.readFields(text, query, decode);
    // Not as an unknown property: a strict object rejects it.
    const hasEventId = output.kind === 'events' && query.has('lastEventId');
    const lastEventId = hasEventId ? request.header('last-event-id') : undefined;
    const parameter = lastEventId === undefined ? undefined : query.get('lastEventId');
    if (parameter?.style === (isLenient ? 'any' : 'single')) {
      input[parameter.field] = draft.convert(parameter.converter, lastEventId, parameter.field);
    }
  }
  if (headers.length > 0) draft.readHeaders(headers, request);

  let isIdTooLarge = false;
  /** Issues of ids that are too large: they are reported only beside others, since such an id is 404. */
  let idIssues = 0;
  for (let index = 0; index < path.length; index += 1) {
    const parameter = path[index] as TextParameter;
    const text = parameters[index];
    if (parameter.style === 'rest') {
      input[parameter.field] = draft.convertRest(parameter, text ?? '');
      continue;
    }
    const otherCount = issues.length;
    input[parameter.field] = draft.convert(parameter.converter, text, parameter.field);
    // Up to 15 digits are within ±(2^53−1).
    if (text === undefined || text.length < 16 || !isUnsafeInt64(parameter, text)) continue;
    isIdTooLarge = true;
    idIssues += issues.length - otherCount;
  }

  if (issues.length > idIssues) {
    const others = otherIssues(description, convertWhole(description, input) as object, issues);
    throw inputError([...issues, ...others]);
  }
  if (isIdTooLarge) {
    throw new TRPCError({ code: 'NOT_FOUND', message: 'There is no resource with this identifier.' });
  }
  const isAbsent =
    description.isOptional && !isLenient && raw === undefined && Object.keys(input).length === 0;
  if (isAbsent) return undefined;
  return description.convert ? description.convert(input) : input;
}

/** Removes empty parameters that occur once: Express reads repeated ones as a list, which is not absent. */
function withoutEmpty(query: string): string {
  const named = Map.groupBy(query.split('&'), (pair) => lenientFormDecode(pair.split('=', 1)[0] ?? ''));
  const isEmpty = ([pair, another]: readonly string[]) =>
    another === undefined && /^[^=]*=?$/.test(pair ?? '');
  return Array.from(named.values())
    .filter((pairs) => !isEmpty(pairs))
    .flat()
    .join('&');
}

/** Reads the properties of the input that are in the body. They are the first values of the draft. */
function readBody(
  draft: InputDraft,
  { body, isLenient }: Operation['input'],
  raw: RawBody,
  limits: InputLimits,
): void {
  if (body === undefined) return;
  const { fields, isRead, otherFields, others, shape, upload } = body;
  const { isForm, text } = raw;
  if (text === undefined) {
    draft.readForm(raw.fields ?? [], fields);
    if (upload?.field !== undefined) draft.values[upload.field] = raw.content;
    return;
  }
  if (isForm) {
    rejectManyParameters(text, limits.maxQueryParameters, 'form');
    return draft.readFields(text, fields);
  }
  const value = isLenient ? parseLenientJson(text) : parseExactJson(text, isRead);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const message = 'the body must be a JSON object';
    draft.issues.push({ code: 'invalid_type', expected: 'object', path: [], message });
    return;
  }
  const input = value as Record<string, unknown>;
  for (const name of otherFields) delete input[name];
  // Ignored properties may be of any depth. Most others are texts and numbers, which need no check.
  let members: unknown[] | undefined;
  if (!others) {
    for (const name in shape) {
      const member = input[name];
      if (typeof member === 'object') (members ??= []).push(member);
    }
  }
  // The list of members is the first level, in the place of the body itself, of which all names are read if it is loose.
  const error = others ? jsonError(input, limits) : members && jsonError(members, limits);
  if (error) throw error;
  draft.values = input;
}

/** Reads a body that is the whole input and may be any JSON value. */
function readWholeBody(raw: RawBody, limits: InputLimits): unknown {
  if (raw.text === undefined) return raw.content;
  const value = parseExactJson(raw.text, () => true);
  const error = jsonError(value, limits);
  if (error) throw error;
  return value;
}

/**
 * Reads the `FormData` of a tRPC client into the same input as over REST, with the same issues; properties from other
 * places are fields too. Without a form over REST, or if it takes a `FormData`, a procedure gets the form.
 */
export function createReadForm(
  operations: readonly Operation[],
  { maxJsonDepth, maxQueryParameters }: InputLimits,
) {
  const readers = new Map<string, (form: FormData) => unknown>();
  for (const { input: description, procedure } of operations) {
    const { body, headers, path, query } = description;
    if (!body?.contentTypes.includes(multipartType) || body.isWhole) continue;
    const elsewhere = byName(
      [...path, ...query.values(), ...headers].flatMap((parameter) => {
        if (parameter.style === 'tree') return [];
        const style = parameter.converter.isRepeated ? 'repeat' : 'single';
        return [[parameter.field, { ...parameter, style } satisfies TextParameter] as const];
      }),
    );
    const known = { get: (name: string) => elsewhere.get(name) ?? body.fields.get(name) };
    readers.set(procedure.path, (form) => {
      const draft = new InputDraft(maxJsonDepth);
      draft.readForm(form, known);
      const { issues, values } = draft;
      const converted = convertWhole(description, values) as object;
      if (issues.length === 0) return converted;
      throw inputError([...issues, ...otherIssues(description, converted, issues)]);
    });
  }
  return (path: string, form: FormData): unknown => {
    if ([...form.keys()].length > maxQueryParameters) throw tooManyFields(maxQueryParameters);
    return readers.get(path)?.(form) ?? form;
  };
}

const convertWhole = ({ convert }: Operation['input'], input: unknown): unknown =>
  convert ? convert(input) : input;

/** Whether a text is an int64 (OpenAPI 3.1 §4.4) that no double represents: valid, but never a resource. */
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
  const { issues = [] } = validateSync(parser, value);
  return isZod(parser) ? (issues as readonly InputIssue[]) : issues.map(toIssue);
}

/** Validates a value; one with an asynchronous check counts as valid. */
function validateSync(parser: StandardSchema, value: unknown) {
  const result = parser['~standard'].validate(value);
  if (!(result instanceof Promise)) return result;
  result.catch(() => undefined);
  return { value };
}
