import { TRPCError } from '@trpc/server';
import { boundaryOf, MultipartError, parseMultipart } from '../../http/multipart.ts';
import { BodyTooLargeError, byteStream, type HttpRequest } from '../../http/request.ts';
import type { Spool, SpooledFile, UploadedFile } from '../../http/upload.ts';
import type { OperationBody, OperationUpload } from '../../operations/operationBody.ts';
import type { AllLimits } from '../../calls/limits.ts';
import { invalidMultipart, MultipartReader } from './multipartReader.ts';
import { bodyMediaType } from './readBody.ts';
import { receiveError } from './receiveError.ts';
import { removeAll, Upload } from './upload.ts';

interface UploadOptions {
  readonly limits: Pick<AllLimits, 'maxBodyBytes' | 'maxQueryParameters'>;
  readonly spool: Spool | undefined;
}

/**
 * Receives a body that is not read into memory. A stream is passed on unread. A form with streamed files is read up to
 * its first file, a form with spooled files to its end. Errors of the unread part are thrown when the procedure reads
 * it.
 * @throws {TRPCError} `UNSUPPORTED_MEDIA_TYPE`, `BAD_REQUEST` for an invalid form, `CLIENT_CLOSED_REQUEST`
 * @throws {LimitError} `body-bytes`, `query-parameters`
 */
export async function receiveUpload(
  request: HttpRequest,
  body: OperationBody,
  upload: OperationUpload,
  { limits, spool }: UploadOptions,
): Promise<Upload | undefined> {
  if (bodyMediaType(request, body) === undefined) return undefined;
  const { kind, maxBytes = limits.maxBodyBytes } = upload;
  if (Number(request.header('content-length')) > maxBytes)
    throw receiveError(new BodyTooLargeError(maxBytes));
  const type = request.header('content-type') ?? '';
  if (kind === 'stream') return new Upload(byteStream(request, maxBytes, receiveError));
  if (kind === 'bytes') return new Upload(await readAllBytes(request, maxBytes));
  if (kind === 'blob') return new Upload(new Blob([await readAllBytes(request, maxBytes)], { type }));
  const reader = new MultipartReader(parseMultipart(request.bodyChunks(maxBytes), readBoundary(type)), {
    maxFiles: upload.maxFiles,
    maxFileBytes: upload.maxFileBytes,
    maxFields: limits.maxQueryParameters,
    maxFieldBytes: limits.maxBodyBytes,
  });
  return kind === 'spool' && spool
    ? spoolFiles(reader, body, spool)
    : receiveFiles(reader, body, upload.field ?? '');
}

async function readAllBytes(request: HttpRequest, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await request.body(maxBytes);
  } catch (cause) {
    throw receiveError(cause);
  }
}

function readBoundary(type: string): string {
  try {
    return boundaryOf(type);
  } catch (cause) {
    throw cause instanceof MultipartError ? invalidMultipart(cause) : cause;
  }
}

/** Receives the text fields. The procedure reads the files. */
async function receiveFiles(reader: MultipartReader, body: OperationBody, field: string): Promise<Upload> {
  const fields = new Map<string, string[]>();
  const close = () => reader.close();
  let first: UploadedFile | undefined;
  try {
    first = await reader.nextFile((name, value) => {
      if (!body.fields.has(name)) return;
      const values = fields.get(name);
      if (values) values.push(value);
      else fields.set(name, [value]);
    });
  } catch (error) {
    await close();
    throw error;
  }
  const rejectLate = (name: string) => {
    if (!body.fields.has(name)) return;
    const message = `The field "${name}" comes after a file. Send the fields before the files.`;
    throw new TRPCError({ code: 'BAD_REQUEST', message });
  };
  async function* files(): AsyncGenerator<UploadedFile, void> {
    try {
      for (let file = first; file; file = await reader.nextFile(rejectLate)) {
        if (file.field === field) yield file;
      }
    } finally {
      await close();
    }
  }
  return new Upload(files(), fields, close);
}

/** Receives a whole form and stores its files in a spool. */
async function spoolFiles(reader: MultipartReader, { fields }: OperationBody, spool: Spool): Promise<Upload> {
  const form = new FormData();
  const files: SpooledFile[] = [];
  try {
    for (;;) {
      const file = await reader.nextFile((name, value) => form.append(name, value));
      if (file === undefined) return new Upload(form, undefined, () => removeAll(files));
      if (!fields.get(file.field)?.converter.isFile) continue;
      const spooled = await spool(file);
      files.push(spooled);
      form.append(file.field, spooled.file);
    }
  } catch (error) {
    await Promise.all([reader.close(), removeAll(files)]);
    throw error;
  }
}
