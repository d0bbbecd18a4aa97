// Hot path: every REST request with a body runs through it.
import { TRPCError } from '@trpc/server';
import { isObject } from '../../http/isObject.ts';
import type { HttpRequest } from '../../http/request.ts';
import { readDates } from '../../openapi/jsonDates.ts';
import type { OperationBody } from '../../openapi/operationBody.ts';
import type { Limits } from '../../policies/limits.ts';
import { refuseLongForm } from '../../policies/queryParameters.ts';
import type { InputIssue } from '../../procedures/inputError.ts';
import { isDeeper, tooDeep } from '../../procedures/jsonDepth.ts';
import { parseExactJson } from './exactJson.ts';
import { convertFields, formFields } from './formFields.ts';
import { mediaType } from './mediaType.ts';

export type InputLimits = Pick<Limits, 'maxJsonDepth' | 'maxQueryParameters'>;

/** A body before its operation's schemas are applied: bytes, or the fields of a `multipart/form-data` body. */
export type RawBody = { readonly isForm: boolean; readonly bytes: Uint8Array } | FormData;

const json = 'application/json';
const multipart = 'multipart/form-data';

/**
 * The media type of a request's body; `undefined` where the request has none and the body may be left out. Whether it was
 * left out shows when it ends: it may be chunked.
 * @throws {TRPCError} `UNSUPPORTED_MEDIA_TYPE`
 */
export function bodyType(request: HttpRequest, body: OperationBody): string | undefined {
  const header = request.header('content-type');
  if (header === undefined && !body.required) return undefined;
  if ((request.header('content-encoding') ?? 'identity').toLowerCase() !== 'identity') {
    throw unsupported('The body must come as it is, without a Content-Encoding.');
  }
  // Nearly all bodies.
  if (header === json && body.contentTypes.includes(json)) return json;
  const type = mediaType(header);
  if (type === undefined || !body.contentTypes.includes(type.essence)) throw unsupportedType(body);
  if (type.charset !== undefined && type.charset !== 'utf-8') throw unsupported('The body must be in UTF-8.');
  return type.essence;
}

export const unsupportedType = ({ contentTypes }: OperationBody): TRPCError =>
  unsupported(`The body's Content-Type must be ${contentTypes.join(' or ')}.`);

const unsupported = (message: string) => new TRPCError({ code: 'UNSUPPORTED_MEDIA_TYPE', message });

/** Rejects with a `BAD_REQUEST` for bytes that are not `multipart/form-data`. */
export function rawBody(
  request: HttpRequest,
  type: string,
  bytes: Uint8Array<ArrayBuffer>,
): RawBody | Promise<FormData> {
  if (type !== multipart) return { isForm: type !== json, bytes };
  // With its boundary.
  const headers = { 'content-type': request.header('content-type') ?? '' };
  return new Response(bytes, { headers }).formData().catch((cause: unknown) => {
    const message = 'The body is not valid multipart/form-data.';
    throw new TRPCError({ code: 'BAD_REQUEST', message, cause });
  });
}

/**
 * Reads the properties of a body.
 * @param issues problems are added to it
 */
export function readBody(
  body: OperationBody,
  raw: RawBody,
  issues: InputIssue[],
  { maxJsonDepth, maxQueryParameters }: InputLimits,
): Record<string, unknown> {
  if (raw instanceof FormData) return readMultipart(body, raw, issues);
  const text = decode(raw.bytes);
  if (raw.isForm) {
    refuseLongForm(text, maxQueryParameters);
    const input = {};
    convertFields(body.fields, formFields(text, body.fields), input, issues);
    return input;
  }
  const value = parseExactJson(text, (name) => Object.hasOwn(body.shape, name));
  if (!isObject(value)) {
    const message = 'the body must be a JSON object';
    issues.push({ code: 'invalid_type', expected: 'object', path: [], message });
    return {};
  }
  const input = value as Record<string, unknown>;
  // Only known properties: others may be anything. The body itself is the first level.
  for (const name in body.shape) if (isDeeper(input[name], maxJsonDepth - 1)) throw tooDeep(maxJsonDepth);
  for (const name of body.dates) {
    const schema = body.shape[name];
    if (schema && Object.hasOwn(input, name)) input[name] = readDates(schema, input[name]);
  }
  return input;
}

function readMultipart(
  { fields, files }: OperationBody,
  form: FormData,
  issues: InputIssue[],
): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  const texts = new Map<string, string[]>();
  const rejectField = (name: string, expected: string, message: string) =>
    issues.push({ code: 'invalid_type', expected, path: [name], message });
  // Not the form's own names: each lookup goes through all its entries, and a client may send thousands.
  for (const name of [...fields.keys(), ...files.keys()]) {
    const values = form.getAll(name);
    if (values.length === 0) continue;
    const strings = values.filter((value) => typeof value === 'string');
    const file = files.get(name);
    if (file === undefined) {
      if (strings.length === values.length) texts.set(name, strings);
      else rejectField(name, 'string', 'must be a text, not a file');
    } else if (strings.length > 0) {
      rejectField(name, 'file', 'must be a file');
    } else if (values.length > 1 && !file.repeated) {
      rejectField(name, 'file', 'is given more than once');
    } else {
      input[name] = file.repeated ? values : values[0];
    }
  }
  convertFields(fields, texts, input, issues);
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
