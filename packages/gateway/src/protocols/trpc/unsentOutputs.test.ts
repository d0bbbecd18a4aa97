import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { expect, it, vi } from 'vitest';
import { t, testGateway } from '../../testing/testGateway.ts';
import { call, openSocket } from '../../testing/openSocket.ts';

const file = () => createReadStream(import.meta.filename);

async function start() {
  const opened: Readable[] = [];
  const open = (stream = file()) => {
    opened.push(stream);
    return stream;
  };
  const on = (path: `/${string}`) =>
    t.procedure.meta({ openapi: { method: 'GET', path, produces: 'image/png' } });
  const router = t.router({
    node: on('/bytes').query(() => open()),
    missing: on('/missing').query(() => open(createReadStream('/nonexistent'))),
    member: t.procedure.query(() => ({ file: open(), failed: Promise.reject(new Error('unread')) })),
    blob: on('/blob').query(() => new Blob(['bytes'])),
    file: on('/file').query(() => new File(['bytes'], 'photo.png')),
    photos: on('/photos').query(() => new Uint8Array([1])),
    ownBlob: t.procedure.query(() => new Blob(['bytes'])),
    ok: t.procedure.query(() => 1),
  });
  const gateway = await testGateway(router);
  const get = (path: string, headers: Record<string, string> = {}) =>
    gateway.fetch(new Request(`http://localhost/trpc/${path}`, { headers }));
  async function onSocket(path: string): Promise<unknown> {
    const { frames, handler, send } = await openSocket(router);
    await send(call(1, 'query', path));
    await handler.closed();
    return frames[0];
  }
  return { get, onSocket, opened };
}

const errorWith = (error: object = {}) => {
  const data = expect.objectContaining({ code: 'UNSUPPORTED_MEDIA_TYPE', httpStatus: 415 }) as object;
  return { error: expect.objectContaining({ data, ...error }) as object };
};
const streamError = errorWith();
const blobError = errorWith({
  message: expect.stringContaining('returned a Blob, which tRPC cannot send. Call it over REST.'),
});
const ok = { result: { data: 1 } };

it.each<[path: string, status: number, body: unknown, closed: readonly true[]]>([
  ['node', 415, streamError, [true]],
  ['missing', 415, streamError, [true]],
  ['member', 415, streamError, [true]],
  // The results of the other calls are sent.
  ['ok,node?batch=1', 207, [ok, streamError], [true]],
  ['blob', 415, blobError, []],
  ['file', 415, blobError, []],
  ['ok,blob?batch=1', 207, [ok, blobError], []],
  // As in tRPC, without `produces`.
  ['ownBlob', 200, { result: { data: {} } }, []],
  ['photos', 200, { result: { data: { 0: 1 } } }, []],
])(
  'GET /trpc/%s responds with %i, and closes streams of Node that it cannot send',
  async (path, ...expected) => {
    const { get, opened } = await start();
    const response = await get(path);
    const received = [response.status, await response.json()];
    await vi.waitFor(() => expect([...received, opened.map(({ closed }) => closed)]).toEqual(expected));
  },
);

it.each<[path: string, message: unknown]>([
  ['node', streamError],
  ['missing', streamError],
  ['blob', blobError],
  ['ownBlob', { result: { type: 'data', data: {} } }],
])('a call of %s on a WebSocket is answered as over HTTP, and closes its stream', async (path, message) => {
  const { onSocket, opened } = await start();
  expect(await onSocket(path)).toEqual({ id: 1, ...(message as object) });
  expect(opened.every(({ destroyed }) => destroyed)).toBe(true);
});

it('a Blob of a procedure with produces is 415 in JSON lines', async () => {
  const { get } = await start();
  const response = await get('ok,blob?batch=1', { 'trpc-accept': 'application/jsonl' });
  expect(await response.text()).toContain('"httpStatus":415');
});
