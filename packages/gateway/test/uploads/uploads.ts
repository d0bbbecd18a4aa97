/**
 * A server process that receives a large file, alone or in a form, and the memory that it needs for that. The client is another process,
 * because in one process they would take turns.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import type { Adapter } from '../adapters.ts';
import { type Pinned, startPinned } from '../load/pinned.ts';
import { mebibyte } from './routers.ts';
import type { UploadTarget } from './uploadTarget.ts';

const chunk = new Uint8Array(65_536).fill(120);
const targetFile = fileURLToPath(new URL('uploadTarget.ts', import.meta.url));
const form = {
  type: 'multipart/form-data; boundary=b',
  head: '--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\nContent-Type: image/png\r\n\r\n',
  end: '\r\n--b--\r\n',
};
const alone = { type: 'application/octet-stream', head: '', end: '' };

/** A request with a file, in a form by default. If `isWhole` is false, it stops after the bytes of the file and never ends. */
export function fileRequest(bytes: number, isWhole = true, { type, head, end } = form) {
  async function* body() {
    const encoder = new TextEncoder();
    yield encoder.encode(head);
    for (let left = bytes; left > 0; left -= chunk.length) yield chunk.subarray(0, left);
    if (!isWhole) await new Promise(() => {});
    yield encoder.encode(end);
  }
  const length = head.length + bytes + end.length;
  const headers = { 'content-type': type, 'content-length': String(length) };
  return { method: 'POST', headers, body: ReadableStream.from(body()), duplex: 'half' } as const;
}

/**
 * The size in MiB of the file that is sent before memory is measured, so that the measurement excludes code that is loaded and
 * compiled, and half of the 32 MiB of buffers that V8 keeps before it collects garbage.
 */
export const warmUpMegabytes = 16;

type UploadPath = '/stream' | '/spool';

/** A server process, with a folder for its temporary files. */
export interface UploadServer extends Pinned {
  readonly directory: string;
  /** Sends a file: in a form if it is spooled. @returns the status and the body of the response */
  send(path: UploadPath, megabytes: number): Promise<readonly [status: number, body: string]>;
  /** Sends a file. @returns the maximum growth of the physical memory in MB while the server received it */
  growthOf(path: UploadPath, megabytes: number): Promise<number>;
}

export async function startUploadServer(adapter: Adapter): Promise<UploadServer> {
  const directory = await mkdtemp(join(tmpdir(), 'uploads-'));
  const server = startPinned(0, targetFile, { ADAPTER: adapter, SPOOL: directory });
  const { port } = await server.call<UploadTarget>({});
  const send: UploadServer['send'] = async (path, megabytes) => {
    const { body, headers } = fileRequest(megabytes * mebibyte, true, path === '/spool' ? form : alone);
    const sent = request({
      port,
      host: '127.0.0.1',
      agent: false,
      method: 'POST',
      path: `/v1${path}`,
      headers,
    });
    const responded = once(sent, 'response');
    // A server that rejects the file responds early and stops reading.
    pipeline(body, sent).catch(() => {});
    const [response] = (await responded) as [IncomingMessage];
    const received = await text(response);
    sent.destroy();
    return [response.statusCode ?? 0, received];
  };
  return {
    ...server,
    directory,
    send,
    async growthOf(path, megabytes) {
      await server.resetPeak();
      const before = await server.rss();
      const received = await send(path, megabytes);
      if (received[1] !== String(megabytes * mebibyte))
        throw new Error(`The response is ${received.join(': ')}.`);
      return Math.max(0, (await server.peakRss()) - before) / 1e6;
    },
    async stop() {
      await server.stop();
      await rm(directory, { recursive: true });
    },
  };
}
