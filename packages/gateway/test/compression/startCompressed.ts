import { request as httpRequest } from 'node:http';
import { type Duplex, PassThrough, Readable } from 'node:stream';
import * as zlib from 'node:zlib';
import { onTestFinished } from 'vitest';
import type { Server } from '../listen.ts';
import { has, serve } from '../servers.ts';
import { type CompressedOptions, createCompressedGateway, Gate } from './compressedGateway.ts';

/** A response whose bytes are read as they were sent. */
interface RawStream {
  readonly status: number;
  readonly headers: Headers;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Disconnects. */
  readonly close: () => void;
}

interface RawInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends a request, whose response is not decoded, as `fetch` would. */
export async function openRaw(server: Server, target: string, init: RawInit = {}): Promise<RawStream> {
  if (!has('a port')) {
    const left = new AbortController();
    const { body, headers, status } = await server.fetch(server.origin + target, {
      ...init,
      signal: left.signal,
    });
    const chunks = body ?? new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });
    return { status, headers, chunks, close: () => left.abort() };
  }
  const { body, ...rest } = init;
  return new Promise((resolve, reject) => {
    const sent = httpRequest(server.origin + target, { ...rest, agent: false }, (response) => {
      const headers = new Headers();
      const { rawHeaders } = response;
      for (let at = 0; at < rawHeaders.length; at += 2) {
        headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
      }
      response.on('error', () => {});
      resolve({
        status: response.statusCode ?? 0,
        headers,
        chunks: response as AsyncIterable<Uint8Array>,
        close: () => void response.destroy(),
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Sends a request, and reads the bytes of its response. */
export async function sendRaw(server: Server, target: string, init: RawInit = {}) {
  const { chunks, headers, status } = await openRaw(server, target, init);
  const bytes: Uint8Array = Buffer.concat(await Readable.from(chunks).toArray());
  return { status, headers, bytes };
}

const decoders: Readonly<
  Record<string, readonly [stream: () => Duplex, whole: (bytes: Uint8Array) => Uint8Array]>
> = {
  gzip: [zlib.createGunzip, zlib.gunzipSync],
  br: [zlib.createBrotliDecompress, zlib.brotliDecompressSync],
  zstd: [zlib.createZstdDecompress, zlib.zstdDecompressSync],
};

/** Decodes chunks as they arrive. */
export function decodeChunks(chunks: AsyncIterable<Uint8Array>, coding: string): AsyncIterable<Uint8Array> {
  const decoder = decoders[coding]?.[0]() ?? new PassThrough();
  // A client that disconnects ends the chunks early.
  decoder.on('error', () => {});
  return Readable.from(chunks)
    .on('error', () => decoder.destroy())
    .pipe(decoder);
}

export const decode = (bytes: Uint8Array, coding: string | null): string =>
  Buffer.from(decoders[coding ?? '']?.[1](bytes) ?? bytes).toString();

/** Serves the router with compression, until the test ends. */
export async function startCompressed(options: CompressedOptions = {}, gate = new Gate()): Promise<Server> {
  const server = await serve(await createCompressedGateway(options, gate));
  onTestFinished(async () => {
    await server.close({ timeoutMs: 0 });
  });
  return server;
}
