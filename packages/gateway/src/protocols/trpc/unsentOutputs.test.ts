import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { t, testGateway } from '../../testing/testGateway.ts';
import { call, openSocket } from './testing/openSocket.ts';

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

const error415 = { error: { data: { code: 'UNSUPPORTED_MEDIA_TYPE', httpStatus: 415 } } };

describe('a stream that tRPC cannot send is 415, and is closed', () => {
  it.each<[path: string, status: number, body: unknown]>([
    ['node', 415, error415],
    ['missing', 415, error415],
    ['member', 415, error415],
    // The results of the other calls are sent.
    ['ok,node?batch=1', 207, [{ result: { data: 1 } }, error415]],
  ])('a call of %s over HTTP closes the stream of Node', async (path, status, body) => {
    const { get, opened } = await start();
    const response = await get(path);
    expect([response.status, await response.json()]).toMatchObject([status, body]);
    expect(opened).toMatchObject([{ destroyed: true }]);
    await vi.waitFor(() => expect(opened).toMatchObject([{ closed: true }]));
  });

  it.each(['node', 'missing'])('a call of %s on a WebSocket closes the stream of Node', async (path) => {
    const { onSocket, opened } = await start();
    expect(await onSocket(path)).toMatchObject(error415);
    expect(opened).toMatchObject([{ destroyed: true }]);
  });
});

describe('a Blob of a procedure with produces is 415, as a stream is', () => {
  const message = expect.stringContaining(
    'returned a Blob, which tRPC cannot send. Call it over REST.',
  ) as string;
  const error = { error: { message, data: error415.error.data } };

  it.each<[path: string, status: number, body: unknown]>([
    ['blob', 415, error],
    ['file', 415, error],
    ['ok,blob?batch=1', 207, [{ result: { data: 1 } }, error]],
  ])('%s over HTTP', async (path, status, body) => {
    const { get } = await start();
    const response = await get(path);
    expect([response.status, await response.json()]).toMatchObject([status, body]);
  });

  it('in JSON lines and on a WebSocket', async () => {
    const { get, onSocket } = await start();
    const response = await get('ok,blob?batch=1', { 'trpc-accept': 'application/jsonl' });
    expect(await response.text()).toContain('"httpStatus":415');
    expect(await onSocket('blob')).toMatchObject(error);
  });

  it('is {} without produces, as in tRPC, and other bytes are encoded as in tRPC', async () => {
    const { get, onSocket } = await start();
    const none = { result: { data: {} } };
    expect(await (await get('ownBlob')).json()).toEqual(none);
    expect(await onSocket('ownBlob')).toMatchObject({ result: { data: {} } });
    expect(await (await get('photos')).json()).toEqual({ result: { data: { 0: 1 } } });
  });
});
