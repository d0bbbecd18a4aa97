// Hot path: every REST request with a body runs through it.
import { TRPCError } from '@trpc/server';
import { isObject } from '../../http/isObject.ts';
import type { HttpRequest } from '../../http/request.ts';
import type { MaybePromise } from '../../http/maybePromise.ts';
import { formType, jsonContentType, type OperationBody } from '../../operations/operationBody.ts';
import type { AllLimits } from '../../calls/limits.ts';
import { rejectManyParameters } from '../../calls/queryParameters.ts';
import type { InputIssue } from '../../procedures/inputError.ts';
import { isDeeper, depthError } from '../../procedures/jsonDepth.ts';
import { parseExactJson } from './exactJson.ts';
import { convertFields, formFields, type FormFields } from './formFields.ts';
import { receiveError } from './receiveError.ts';
import { Upload } from './upload.ts';

export type InputLimits = Pick<AllLimits, 'maxJsonDepth' | 'maxQueryParameters'>;

/** A received body, not converted yet: bytes, the fields of a `multipart/form-data` body, or an upload. */
export type RawBody =
  | { readonly isForm: boolean; readonly bytes: Uint8Array<ArrayBuffer> }
  | FormData
  | Upload;

const multipartEssence = 'multipart/form-data';

/**
 * Receives the body of a request. Without a promise, if all bytes have arrived.
 * @returns `undefined` if the body is absent
 * @throws {TRPCError} `UNSUPPORTED_MEDIA_TYPE`, `BAD_REQUEST` for an invalid multipart body, `CLIENT_CLOSED_REQUEST`
 * @throws {LimitError} `body-bytes`
 */
export function receiveBody(
  request: HttpRequest,
  body: OperationBody,
  maxBytes: number,
): MaybePromise<RawBody | undefined> {
  const type = bodyMediaType(request, body);
  const bytes = request.bodyNow?.(maxBytes);
  if (bytes) return rawBody(request, body, type, bytes);
  return request.body(maxBytes).then(
    (received) => rawBody(request, body, type, received),
    (cause: unknown) => {
      throw receiveError(cause);
    },
  );
}

/**
 * Returns the media type of a body. `undefined` if the request has no `Content-Type` and the body is optional.
 * @throws {TRPCError} `UNSUPPORTED_MEDIA_TYPE`; `BAD_REQUEST` for a `QUERY` without a `Content-Type`
 */
export function bodyMediaType(request: HttpRequest, body: OperationBody): string | undefined {
  const header = request.header('content-type');
  if (header === undefined && !body.required) return undefined;
  if ((request.header('content-encoding') ?? 'identity').toLowerCase() !== 'identity') {
    throw unsupportedMediaType(
      'The body has a Content-Encoding, which is not supported. Send it without one.',
    );
  }
  // Fast check for nearly all requests.
  if (header === jsonContentType && body.contentTypes.includes(jsonContentType)) return jsonContentType;
  const { essence, charset } = parseContentType(header ?? '');
  // RFC 10008 §2: QUERY requires a media type.
  if (header === undefined && request.method === 'QUERY') {
    const message = `QUERY requires a Content-Type: ${body.contentTypes.join(' or ')}.`;
    throw new TRPCError({ code: 'BAD_REQUEST', message });
  }
  if (!body.contentTypes.includes(essence)) throw unexpectedContentType(body);
  // The charset of an upload does not matter: its bytes are not decoded.
  if (charset !== undefined && charset !== 'utf-8' && !body.upload) {
    throw unsupportedMediaType('The charset of the body must be UTF-8.');
  }
  return essence;
}

/** Parses a `Content-Type` into its type and subtype and its charset, in lower case (RFC 9110 §8.3.1). */
export function parseContentType(header: string): {
  readonly essence: string;
  readonly charset: string | undefined;
} {
  const [essence = '', ...parameters] = header.toLowerCase().split(';');
  const charset = parameters
    // Trimmed first, since white space around a lazy match took cubic time.
    .map((parameter) => /^charset="?([^"\s]*)"?$/.exec(parameter.trim())?.[1])
    .find((value) => value !== undefined);
  return { essence: essence.trim(), charset };
}

const unexpectedContentType = ({ contentTypes }: OperationBody): TRPCError =>
  unsupportedMediaType(`The body's Content-Type must be ${contentTypes.join(' or ')}.`);

const unsupportedMediaType = (message: string) => new TRPCError({ code: 'UNSUPPORTED_MEDIA_TYPE', message });

function rawBody(
  request: HttpRequest,
  body: OperationBody,
  type: string | undefined,
  bytes: Uint8Array<ArrayBuffer>,
): MaybePromise<RawBody | undefined> {
  // An empty body counts as absent. Known only now, since it may be chunked.
  if (bytes.byteLength === 0 && !body.required) return undefined;
  if (type === undefined) throw unexpectedContentType(body);
  if (type !== multipartEssence) return { isForm: type === formType, bytes };
  // The whole header, which has the boundary.
  const headers = { 'content-type': request.header('content-type') ?? '' };
  return new Response(bytes, { headers }).formData().catch((cause: unknown) => {
    const message = 'The body is not valid multipart/form-data.';
    throw new TRPCError({ code: 'BAD_REQUEST', message, cause });
  });
}

/**
 * Reads the properties of the input that are in the body.
 * @param issues receives the problems
 */
export function readBody(
  body: OperationBody,
  raw: RawBody,
  issues: InputIssue[],
  { maxJsonDepth, maxQueryParameters }: InputLimits,
): Record<string, unknown> {
  const { otherFields, fields, shape } = body;
  if (raw instanceof Upload) return readUpload(body, raw, issues);
  if (raw instanceof FormData) return readMultipart(fields, raw, issues);
  const text = decodeText(raw.bytes);
  if (raw.isForm) {
    rejectManyParameters(text, maxQueryParameters, 'form');
    const input = {};
    convertFields(fields, formFields(text, fields), input, issues, maxJsonDepth);
    return input;
  }
  const value = parseExactJson(text, (name) => Object.hasOwn(shape, name));
  if (!isObject(value)) {
    const message = 'the body must be a JSON object';
    issues.push({ code: 'invalid_type', expected: 'object', path: [], message });
    return {};
  }
  const input = value as Record<string, unknown>;
  for (const name of otherFields) delete input[name];
  // Only known properties: others may be of any depth. The body itself is the first level.
  for (const name in shape) {
    const member = input[name];
    // Most members are texts and numbers, which need no check.
    if (typeof member === 'object' && isDeeper(member, maxJsonDepth - 1)) throw depthError(maxJsonDepth);
  }
  return input;
}

/** Reads a body that is the whole input and may be any JSON value. */
export function readWholeBody(raw: RawBody, { maxJsonDepth }: InputLimits): unknown {
  if (raw instanceof Upload) return raw.content;
  // Never a form: its operation does not accept one.
  const text = raw instanceof FormData ? '' : decodeText(raw.bytes);
  const value = parseExactJson(text, () => true);
  if (isDeeper(value, maxJsonDepth)) throw depthError(maxJsonDepth);
  return value;
}

function readUpload(
  { fields, upload }: OperationBody,
  raw: Upload,
  issues: InputIssue[],
): Record<string, unknown> {
  if (raw.content instanceof FormData) return readMultipart(fields, raw.content, issues);
  const input = { [upload?.field ?? '']: raw.content };
  if (raw.fields) convertFields(fields, raw.fields, input, issues, Infinity);
  return input;
}

function readMultipart(
  parameters: OperationBody['fields'],
  form: FormData,
  issues: InputIssue[],
): Record<string, unknown> {
  const fields = new Map<string, ReturnType<FormData['getAll']>>();
  // By the known names, not the form's: each look-up scans all its entries, and a client may send thousands.
  for (const [name, { converter }] of parameters) {
    const { isFile } = converter;
    const values = form.getAll(name);
    const rejectField = (expected: string, message: string) =>
      issues.push({ code: 'invalid_type', expected, path: [name], message });
    if (values.some((value) => (typeof value === 'string') === isFile)) {
      if (isFile) rejectField('file', 'must be a file');
      else rejectField('string', 'must be text, not a file');
    } else if (values.length > 0) {
      fields.set(name, values);
    }
  }
  const input = {};
  convertFields(parameters, fields as FormFields, input, issues, Infinity);
  return input;
}

const strictUtf8Decoder = new TextDecoder('utf-8', { fatal: true });

function decodeText(bytes: Uint8Array): string {
  try {
    return strictUtf8Decoder.decode(bytes);
  } catch (cause) {
    throw new TRPCError({ code: 'BAD_REQUEST', message: 'The body is not valid UTF-8.', cause });
  }
}
