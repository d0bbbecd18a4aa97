import { TRPCError } from '@trpc/server';
import { boundaryOf, MultipartError, parseMultipart, type PartHead } from '../../http/multipart.ts';
import type { Bytes } from '../../http/request.ts';
import type { UploadedFile } from '../../http/upload.ts';
import { bodyTooLarge, receiveError } from '../../calls/receiveError.ts';
import { tooManyFields } from '../../calls/queryParameters.ts';

type PartEvent = PartHead | Bytes;

interface MultipartLimits {
  /** `undefined` if files count as fields. */
  readonly maxFiles: number | undefined;
  readonly maxFileSize: number;
  readonly maxFields: number;
  /** Total size of the text fields, which are held in memory. */
  readonly maxFieldBytes: number;
}

/** Reads the parts of a `multipart/form-data` body in order of arrival. Its errors are `TRPCError`s for the client. */
export class MultipartReader {
  readonly #events: AsyncGenerator<PartEvent, void>;
  readonly #limits: MultipartLimits;
  /** The next event, not consumed yet. An error and the end of the body stay here. */
  #next: Promise<PartEvent | undefined> | undefined;
  /** The file whose stream may be read. */
  #current: UploadedFile | undefined;
  #fileCount = 0;
  #fieldCount = 0;
  #fieldBytes = 0;

  constructor(body: AsyncIterable<Bytes>, contentType: string, limits: MultipartLimits) {
    this.#events = parse(body, contentType);
    this.#limits = limits;
  }

  /** Reads the fields up to the next file, and drops the rest of the previous one. `undefined` at the end. */
  async nextFile(onField: (name: string, value: string) => void): Promise<UploadedFile | undefined> {
    this.#current = undefined;
    for (;;) {
      const event = await this.#peek();
      if (event === undefined) return undefined;
      this.#next = undefined;
      if (event instanceof Uint8Array) continue;
      if (event.filename === undefined) onField(event.name, await this.#text(event.name));
      else return this.#file(event, event.filename);
    }
  }

  async close(): Promise<void> {
    this.#current = undefined;
    await this.#events.return();
  }

  #peek(): Promise<PartEvent | undefined> {
    return (this.#next ??= this.#events.next().then(({ value }) => value ?? undefined, rejectBody));
  }

  #file({ name: field, type }: PartHead, name: string): UploadedFile {
    const { maxFiles } = this.#limits;
    this.#fileCount += 1;
    if (maxFiles === undefined) this.#countField();
    else if (this.#fileCount > maxFiles) throw bodyTooLarge(`The body has more than ${maxFiles} files.`);
    let size = 0;
    let stream: ReadableStream<Bytes> | undefined;
    const pull = async (controller: ReadableStreamDefaultController<Bytes>) => {
      const event = this.#current === file ? await this.#peek() : undefined;
      if (this.#current !== file) {
        throw new Error(
          `The file "${name}" was not read to its end before the next file was requested, so its rest was discarded. Read each file before you request the next one.`,
        );
      }
      if (!(event instanceof Uint8Array)) return controller.close();
      this.#next = undefined;
      size += event.byteLength;
      if (size > this.#limits.maxFileSize) {
        const error = bodyTooLarge(`The file "${name}" is larger than ${this.#limits.maxFileSize} bytes.`);
        // Later reads throw it again: a procedure that ignores it cannot read further.
        this.#next = Promise.reject(error);
        this.#next.catch(() => {});
        throw error;
      }
      controller.enqueue(event);
    };
    const file: UploadedFile = {
      field,
      name,
      type,
      stream: () => (stream ??= new ReadableStream({ pull }, { highWaterMark: 0 })),
    };
    this.#current = file;
    return file;
  }

  #countField(): void {
    const { maxFields } = this.#limits;
    this.#fieldCount += 1;
    if (this.#fieldCount > maxFields) throw tooManyFields(maxFields);
  }

  async #text(name: string): Promise<string> {
    const { maxFieldBytes } = this.#limits;
    this.#countField();
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const decode = (bytes?: Bytes) => {
      try {
        return decoder.decode(bytes, { stream: bytes !== undefined });
      } catch (cause) {
        const message = `The field "${name}" is not valid UTF-8.`;
        throw new TRPCError({ code: 'BAD_REQUEST', message, cause });
      }
    };
    for (let text = ''; ;) {
      const event = await this.#peek();
      if (!(event instanceof Uint8Array)) return text + decode();
      this.#next = undefined;
      this.#fieldBytes += event.byteLength;
      if (this.#fieldBytes > maxFieldBytes) {
        throw bodyTooLarge(`The fields of the body are larger than ${maxFieldBytes} bytes in total.`);
      }
      text += decode(event);
    }
  }
}

/** A generator, so that an error of the boundary is one of the body. */
async function* parse(body: AsyncIterable<Bytes>, contentType: string): AsyncGenerator<PartEvent, void> {
  yield* parseMultipart(body, boundaryOf(contentType));
}

function rejectBody(cause: unknown): never {
  if (!(cause instanceof MultipartError)) throw receiveError(cause);
  const message = `The body is not valid multipart/form-data. ${cause.message}`;
  throw new TRPCError({ code: 'BAD_REQUEST', message, cause });
}
