// Hot path: every REST request with a body runs through it.
import { TRPCError } from '@trpc/server';
import type { MaybePromise } from '../../http/maybePromise.ts';
import { BodyTooLargeError, byteStream, type Bytes, type HttpRequest } from '../../http/request.ts';
import type { Spool, SpooledFile } from '../../http/upload.ts';
import {
  formType,
  jsonContentType,
  multipartType,
  type OperationBody,
  type OperationUpload,
} from '../../operations/operationBody.ts';
import type { AllLimits } from '../../calls/limits.ts';
import { receiveError, rejectContentEncoding } from '../../calls/receiveError.ts';
import { MultipartReader } from './multipartReader.ts';

interface ReceiveOptions {
  readonly limits: Pick<AllLimits, 'maxBodySize' | 'maxQueryParameters'>;
  /** Stores the files of operations with `upload.spool`. */
  readonly spool: Spool | undefined;
}

/** A received body, not converted yet: a text, bytes, or the fields and files of a `multipart/form-data` form. */
export interface RawBody {
  /** JSON, or the fields of an `application/x-www-form-urlencoded` form. */
  readonly text?: string;
  readonly isForm?: boolean;
  /** The value of an upload's property, or of the whole input: bytes, a stream or a form. */
  readonly content?: unknown;
  /** The known fields of a `multipart/form-data` form, in the order of arrival; all if the form is the whole input. */
  readonly fields?: readonly FormField[];
  /** Releases the body and its files, once the call has ended. It never rejects. */
  readonly close?: () => Promise<unknown>;
}

export type FormField = readonly [name: string, value: string | File];

/**
 * Receives the body of a request. Without a promise, if all bytes of a text have arrived. A stream is passed on unread:
 * its errors are thrown when the procedure reads it.
 * @returns `undefined` if the body is absent
 * @throws {TRPCError} `UNSUPPORTED_MEDIA_TYPE`, `BAD_REQUEST` for an invalid body, `CLIENT_CLOSED_REQUEST`
 * @throws {LimitError} `body-bytes`, `query-parameters`
 */
export function receiveBody(
  request: HttpRequest,
  body: OperationBody,
  options: ReceiveOptions,
): MaybePromise<RawBody | undefined> {
  const header = request.header('content-type');
  // Fast check for nearly all requests.
  const isPlainJson = header === jsonContentType && !request.hasHeader('content-encoding');
  const type = isPlainJson && body.contentTypes.includes(header) ? header : bodyMediaType(request, body);
  const { maxBodySize } = options.limits;
  if (body.upload || type === multipartType) {
    if (type === undefined) return undefined;
    const { kind, maxSize = maxBodySize } = body.upload ?? {};
    const whole = kind === 'bytes' || kind === 'blob' ? request.bodyNow?.(maxSize) : undefined;
    if (whole === undefined) return receiveUpload(request, body, body.upload, options);
    // Both are copies: the procedure may transfer the buffer, in which others may have bytes too.
    return { content: kind === 'blob' ? new Blob([whole], { type: header }) : new Uint8Array(whole) };
  }
  const bytes = request.bodyNow?.(maxBodySize);
  if (bytes) return textBody(body, type, bytes);
  return readAllBytes(request, maxBodySize).then((received) => textBody(body, type, received));
}

const readAllBytes = (request: HttpRequest, maxBytes: number): Promise<Bytes> =>
  request.body(maxBytes).catch((cause: unknown) => {
    throw receiveError(cause);
  });

/**
 * Returns the media type of a body. `undefined` if the request has no `Content-Type` and the body is optional.
 * @throws {TRPCError} `UNSUPPORTED_MEDIA_TYPE`
 */
function bodyMediaType(request: HttpRequest, body: OperationBody): string | undefined {
  const header = request.header('content-type');
  if (header === undefined && !body.required) return undefined;
  rejectContentEncoding(request);
  const { essence, charset } = parseContentType(header ?? '');
  if (!body.contentTypes.includes(essence)) throw unexpectedContentType(body);
  // The charset of an upload does not matter: its bytes are not decoded.
  if (charset !== undefined && charset !== 'utf-8' && !body.upload) {
    throw unsupportedMediaType('The charset of the body must be UTF-8.');
  }
  return essence;
}

/** Parses a `Content-Type` into its type and subtype and its charset, in lower case (RFC 9110 §8.3.1). */
function parseContentType(header: string) {
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

const strictUtf8Decoder = new TextDecoder('utf-8', { fatal: true });

function textBody(body: OperationBody, type: string | undefined, bytes: Bytes): RawBody | undefined {
  // An empty body counts as absent. Known only now, since it may be chunked.
  if (bytes.byteLength === 0 && !body.required) return undefined;
  if (type === undefined) throw unexpectedContentType(body);
  try {
    return { isForm: type === formType, text: strictUtf8Decoder.decode(bytes) };
  } catch (cause) {
    throw new TRPCError({ code: 'BAD_REQUEST', message: 'The body is not valid UTF-8.', cause });
  }
}

/** @param upload `undefined` for a form whose files are kept in memory */
async function receiveUpload(
  request: HttpRequest,
  body: OperationBody,
  upload: OperationUpload | undefined,
  { limits, spool = keepInMemory }: ReceiveOptions,
): Promise<RawBody | undefined> {
  const { kind, maxSize: maxBytes = limits.maxBodySize, maxFiles, maxFileSize = Infinity } = upload ?? {};
  if (Number(request.header('content-length')) > maxBytes) {
    throw receiveError(new BodyTooLargeError(maxBytes));
  }
  const type = request.header('content-type') ?? '';
  if (kind === 'stream') return { content: byteStream(request, maxBytes, receiveError) };
  if (kind === 'bytes') return { content: await readAllBytes(request, maxBytes) };
  if (kind === 'blob') {
    return { content: new Blob([await readAllBytes(request, maxBytes)], { type }) };
  }
  const bytes = upload ? undefined : await readAllBytes(request, maxBytes);
  if (bytes?.byteLength === 0 && !body.required) return undefined;
  const chunks = bytes ? ReadableStream.from([bytes]) : request.bodyChunks(maxBytes);
  const reader = new MultipartReader(chunks, type, {
    maxFiles,
    maxFileSize,
    maxFields: limits.maxQueryParameters,
    maxFieldBytes: limits.maxBodySize,
  });
  return receiveForm(reader, body, kind === 'spool' ? spool : keepInMemory);
}

async function receiveForm(
  reader: MultipartReader,
  { fields: known, isWhole }: OperationBody,
  spool: Spool,
): Promise<RawBody> {
  // Not a `FormData`: Bun's returns copies of its files (oven-sh/bun#36436), whose paths `temporaryPath` does not know.
  const fields: FormField[] = [];
  const files: SpooledFile[] = [];
  // A file that cannot be deleted is left in the temporary directory.
  const close = () => Promise.allSettled([reader.close(), ...files.map(async (file) => file.remove())]);
  try {
    for (;;) {
      const file = await reader.nextFile((name, value) => {
        if (isWhole || known.get(name)) fields.push([name, value]);
      });
      if (file === undefined) return { content: isWhole ? toFormData(fields) : undefined, fields, close };
      const parameter = known.get(file.field);
      if (!isWhole && parameter === undefined) continue;
      const isFile = isWhole || parameter?.converter.isFile || parameter?.style === 'any';
      const stored = isFile ? await spool(file) : undefined;
      if (stored) files.push(stored);
      // A file instead of a text is rejected later, with the name of its field.
      fields.push([file.field, stored?.file ?? new File([], '')]);
    }
  } catch (error) {
    await close();
    throw error;
  }
}

export function toFormData(fields: readonly FormField[]): FormData {
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  return form;
}

const keepInMemory: Spool = async ({ name, stream, type }) => {
  const chunks: Bytes[] = [];
  for await (const chunk of stream()) chunks.push(chunk);
  return { file: new File(chunks, name, { type }), remove: async () => {} };
};
