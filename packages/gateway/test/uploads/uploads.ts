/**
 * A server process that receives a large file, alone or in a form, and the memory that it needs for that. The client is another process,
 * because in one process they would take turns.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Adapter } from '../adapters.ts';
import { type Pinned, startPinned } from '../load/pinned.ts';
import type { UploadTarget } from './uploadTarget.ts';

const mebibyte = 1024 * 1024;
const chunk = Buffer.alloc(65_536, 'x');
const targetFile = fileURLToPath(new URL('uploadTarget.ts', import.meta.url));

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
  const send: UploadServer['send'] = (path, megabytes) => sendFile(port, path, megabytes * mebibyte);
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

const form = {
  type: 'multipart/form-data; boundary=b',
  head: '--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n',
  end: '\r\n--b--\r\n',
};
const alone = { type: 'application/octet-stream', head: '', end: '' };

async function sendFile(port: number, path: UploadPath, bytes: number): Promise<readonly [number, string]> {
  const { type, head, end } = path === '/spool' ? form : alone;
  const sent = request({
    port,
    host: '127.0.0.1',
    agent: false,
    method: 'POST',
    path: `/v1${path}`,
    headers: {
      'content-type': type,
      'content-length': head.length + bytes + end.length,
    },
  });
  const responded = once(sent, 'response');
  // It is awaited below, unless sending fails first.
  responded.catch(() => {});
  const responses = new Set<unknown>();
  sent.once('response', (response) => {
    responses.add(response);
    sent.emit('drain');
  });
  sent.write(head);
  // A server that rejects the file responds early and stops reading.
  for (let left = bytes; left > 0 && responses.size === 0; left -= chunk.length) {
    if (!sent.write(left < chunk.length ? chunk.subarray(0, left) : chunk)) await once(sent, 'drain');
  }
  if (responses.size === 0) sent.end(end);
  const [response] = (await responded) as [AsyncIterable<Buffer> & { statusCode: number }];
  let text = '';
  for await (const piece of response) text += piece.toString();
  sent.destroy();
  return [response.statusCode, text];
}
