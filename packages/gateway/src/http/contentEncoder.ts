// oxlint-disable-next-line no-restricted-imports -- types only: the runtime may have no such module
import type * as Zlib from 'node:zlib';
import { type BodyStream, discardStream, type HttpResponse, utf8Bytes } from './response.ts';

/** A content coding that responses may have: `gzip` (RFC 9110 §8.4.1.3), `br` (RFC 7932) or `zstd` (RFC 9659). */
export type ContentCoding = 'br' | 'gzip' | 'zstd';

export interface ContentEncoder {
  encode(bytes: Uint8Array): Uint8Array;
  /** Encodes on another thread, for bodies that would block the event loop. */
  encodeLater(bytes: Uint8Array): Promise<Uint8Array>;
  createStream(): Zlib.Gzip | Zlib.BrotliCompress | Zlib.ZstdCompress;
  /** The flush after which all that was written to its stream is put out. */
  readonly flush: number;
}

/** What runtimes have of Node's built-ins: not all have each coding, and a browser has none. */
interface Runtime {
  readonly process?: { getBuiltinModule?(name: 'node:zlib'): Partial<typeof Zlib> | undefined };
  readonly Bun?: { readonly gzipSync?: typeof Zlib.gzipSync };
}

/**
 * Returns the runtime's encoders by content coding; none without `node:zlib`, whose import would end every gateway's
 * start there. The levels are those of equal sizes, and windows of streams are small, since each is kept while its
 * stream is open. docs/gateway/compression.md has the figures.
 */
export function contentEncoders(): ReadonlyMap<ContentCoding, ContentEncoder> {
  const encoders = new Map<ContentCoding, ContentEncoder>();
  const { Bun, process } = globalThis as Runtime;
  const zlib = process?.getBuiltinModule?.('node:zlib');
  if (!zlib?.constants) return encoders;
  const { constants: c, createBrotliCompress, createGzip, createZstdCompress } = zlib;
  const { brotliCompress, brotliCompressSync, gzip, gzipSync, zstdCompress, zstdCompressSync } = zlib;
  if (createZstdCompress && zstdCompress && zstdCompressSync) {
    const options = { params: { [c.ZSTD_c_compressionLevel]: 1 } };
    const small = { [c.ZSTD_c_windowLog]: 14, [c.ZSTD_c_hashLog]: 12, [c.ZSTD_c_chainLog]: 12 };
    const params = { [c.ZSTD_c_compressionLevel]: 7, ...small };
    encoders.set('zstd', {
      encode: (bytes) => zstdCompressSync(bytes, options),
      encodeLater: (bytes) => later((done) => zstdCompress(bytes, options, done)),
      createStream: () => createZstdCompress({ params, chunkSize }),
      flush: c.ZSTD_e_flush,
    });
  }
  if (createBrotliCompress && brotliCompress && brotliCompressSync) {
    const options = { params: { [c.BROTLI_PARAM_QUALITY]: 4, [c.BROTLI_PARAM_LGWIN]: 18 } };
    const params = { [c.BROTLI_PARAM_QUALITY]: 7, [c.BROTLI_PARAM_LGWIN]: 14 };
    encoders.set('br', {
      encode: (bytes) => brotliCompressSync(bytes, options),
      encodeLater: (bytes) => later((done) => brotliCompress(bytes, options, done)),
      createStream: () => createBrotliCompress({ params, chunkSize }),
      flush: c.BROTLI_OPERATION_FLUSH,
    });
  }
  if (createGzip && gzip && gzipSync) {
    const options = { level: 6 };
    const small = { ...options, windowBits: 13, memLevel: 5 };
    // A tenth less processor time than its `node:zlib`, which leaves an object to collect for each body.
    const encode = Bun?.gzipSync ?? gzipSync;
    encoders.set('gzip', {
      encode: (bytes) => encode(bytes, options),
      encodeLater: (bytes) => later((done) => gzip(bytes, options, done)),
      createStream: () => createGzip({ ...small, chunkSize }),
      // Not the default of its `flush`, which forgets the window.
      flush: c.Z_SYNC_FLUSH,
    });
  }
  return encoders;
}

type Done = (error: Error | null, encoded: Uint8Array) => void;

const later = (encode: (done: Done) => void) =>
  new Promise<Uint8Array>((resolve, reject) => {
    encode((error, encoded) => (error ? reject(error) : resolve(encoded)));
  });

/** Size of the buffer that the encoder of a stream writes to, in bytes: that of an event fits, and each stream has one. */
const chunkSize = 4096;

/** The encoded forms of bodies that never change. */
const constantBodies = new WeakMap<Uint8Array, Map<ContentCoding, Promise<Uint8Array>>>();

/** Returns a body that never changes, such as that of the document: it is encoded once, not for each response. */
export function constantBody(text: string): Uint8Array {
  const bytes = utf8Bytes(text);
  constantBodies.set(bytes, new Map());
  return bytes;
}

/** Length from which on a body is encoded on another thread, in bytes: it takes 0.3 to 0.7 ms. */
const longLength = 64 * 1024;

/** Encodes a body: at once if it is short. */
export function encodeBody(
  body: NonNullable<HttpResponse['body']>,
  coding: ContentCoding,
  encoder: ContentEncoder,
): Uint8Array | BodyStream | Promise<Uint8Array> {
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return new EncodedStream(body, encoder);
  const bytes = typeof body === 'string' ? utf8Bytes(body) : body;
  const forms = constantBodies.get(bytes);
  if (forms === undefined) {
    return bytes.byteLength < longLength ? encoder.encode(bytes) : encoder.encodeLater(bytes);
  }
  const known = forms.get(coding) ?? encoder.encodeLater(bytes);
  forms.set(coding, known);
  return known;
}

/** Number of bytes after which a stream is flushed, though its source has more. */
const flushSize = 16 * 1024;

/**
 * A stream in a content coding. What its source has at once is encoded together, since a flush takes bytes; when it has
 * to wait, all is sent. One chunk is requested ahead, further ones when the network has taken those before.
 */
class EncodedStream implements BodyStream {
  readonly #encoder: ContentEncoder;
  readonly #source: BodyStream;
  /** Not before the first chunk: a client that leaves before costs no encoder. */
  #stream: ReturnType<ContentEncoder['createStream']> | undefined;
  #isLeft = false;
  readonly end?: () => void;
  readonly expire?: () => void;

  constructor(source: BodyStream, encoder: ContentEncoder) {
    this.#source = source;
    this.#encoder = encoder;
    // Adapters wait for bodies that have no `end`.
    if (source.end) this.end = () => source.end?.();
    if (source.expire) this.expire = () => source.expire?.();
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined> {
    const source = this.#source[Symbol.asyncIterator]();
    const encoded = this.#encode(source);
    return {
      next: () => encoded.next(),
      // That of the generator would wait for a pending `next`.
      return: async () => {
        this.#isLeft = true;
        this.#stream?.destroy();
        await discardStream(this.#source, source);
        return { done: true, value: undefined };
      },
    };
  }

  async *#encode(source: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
    let parts: Uint8Array[] = [];
    let fail: (error: Error) => void;
    const finished = (start: (done: (error?: Error | null) => void) => void) =>
      new Promise<void>((resolve, reject) => {
        fail = reject;
        start((error) => (error ? reject(error) : resolve()));
      });
    try {
      let ahead = source.next();
      for (let size = 0; ;) {
        const { done: isLast, value } = await ahead;
        if (this.#isLeft) return;
        const stream = (this.#stream ??= this.#encoder
          .createStream()
          .on('data', (part: Uint8Array) => parts.push(part))
          .on('error', (error) => fail(error)));
        if (isLast) {
          await finished((done) => stream.once('end', done).end());
          yield* parts;
          return;
        }
        ahead = source.next();
        let isThere = false;
        // A chunk that fails is not there: those before it are sent first.
        ahead.then(
          () => (isThere = true),
          () => {},
        );
        await finished((done) => stream.write(value, done));
        size += value.byteLength;
        if (isThere && size < flushSize) continue;
        await finished((done) => stream.flush(this.#encoder.flush, done));
        yield* parts;
        parts = [];
        size = 0;
      }
    } finally {
      this.#stream?.destroy();
    }
  }
}
