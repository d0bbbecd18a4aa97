import { EventSource } from 'eventsource';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { has } from '../servers.ts';
import { openShape } from '../startShape.ts';
import { away, cancelled, files, mediaRouter, png, quiet } from './streams.ts';

const { close, document, origin, records, rest, server } = await openShape(mediaRouter);
afterAll(close);

/** The number of quiet subscriptions that run, and of requests that the adapter counts. */
const running = () => [quiet.running, has('a count of its connections') ? server.inFlight() : quiet.running];

const get = (path: string, headers: Record<string, string> = {}) => rest(path, { headers });

describe('a subscription over REST', () => {
  it('a subscription sends events with ids, stripped by their schema, and an end event', async () => {
    const response = await get('/ticks?to=2');
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('cache-control')).toBe('no-cache, no-transform');
    // Without it, nginx keeps events back.
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    expect(await response.text()).toBe(
      'data: {"n":1}\nid: 1\n\ndata: {"n":2}\nid: 2\n\nevent: end\ndata: \n\n',
    );
  });

  it('a subscription continues after Last-Event-ID or lastEventId, which is converted like a parameter', async () => {
    const text = 'data: {"n":3}\nid: 3\n\nevent: end\ndata: \n\n';
    expect(await (await get('/ticks?to=3', { 'last-event-id': '2' })).text()).toBe(text);
    expect(await (await get('/ticks?to=3&lastEventId=2')).text()).toBe(text);
    const invalid = await get('/ticks?to=3', { 'last-event-id': 'two' });
    expect(invalid.status).toBe(400);
    expect(await invalid.json()).toMatchObject({ message: expect.stringContaining('lastEventId: must be') });
  });

  it('an error before the first event of a subscription is answered with its status', async () => {
    expect((await get('/ticks?to=x')).status).toBe(400);
    const response = await get('/forbidden');
    expect(response.status).toBe(403);
    expect(await response.json()).toEqual({ code: 'FORBIDDEN', message: 'Not you.', status: 403 });
  });

  it('an error that may pass is the last event of a stream for EventSource, which connects again', async () => {
    away.calls = 0;
    const response = await get('/away');
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    away.calls = 0;
    const source = new EventSource(`${origin}/v1/away`, { fetch: server.fetch });
    onTestFinished(() => source.close());
    const received: string[] = [];
    for (const type of ['error', 'message'] as const)
      source.addEventListener(type, (event) => 'data' in event && received.push(String(event.data)));
    const body = '{"code":"SERVICE_UNAVAILABLE","message":"Later.","status":503}';
    await vi.waitFor(() => expect(received).toEqual([body, '{"n":2}']), { timeout: 10_000 });
  });

  it('an error after the first event of a subscription is sent as an error event', async () => {
    expect(await (await get('/breaks')).text()).toBe(
      'data: {"n":1}\n\nevent: error\ndata: {"code":"CONFLICT","message":"It broke.","status":409}\n\n',
    );
    expect(await (await get('/lies')).text()).toBe(
      'event: error\ndata: {"code":"INTERNAL_SERVER_ERROR","message":"Internal server error","status":500}\n\n',
    );
  });

  it('a subscription is recorded at its end, with its error', async () => {
    const begun = records.length;
    await (await get('/ticks?to=1')).text();
    await (await get('/lies')).text();
    await vi.waitFor(() => expect(records.slice(begun)).toHaveLength(2));
    expect(records.slice(begun)).toMatchObject([
      { operation: 'ticks', status: 200, isStream: true, error: undefined },
      { operation: 'lies', status: 200, isStream: true, error: { code: 'INTERNAL_SERVER_ERROR' } },
    ]);
  });

  it('a subscription ends after maxDurationMs, and an EventSource continues after the last event', async () => {
    const source = new EventSource(`${origin}/v1/clock`, { fetch: server.fetch });
    onTestFinished(() => source.close());
    const received: number[] = [];
    source.addEventListener('message', ({ data }) => received.push(JSON.parse(data).n));
    // Each connection lasts one second and has one event.
    await vi.waitFor(() => expect(received).toEqual([1, 2]));
  });

  it('a subscription that throws at the end of maxDurationMs ends, and the server continues', async () => {
    expect(await (await get('/stubborn')).text()).toMatch(/^(:\n\n)+$/);
    expect((await get('/ticks?to=1')).status).toBe(200);
  });

  it('a subscription stops if its response headers throw', async () => {
    expect((await get('/unlisted')).status).toBe(500);
    await vi.waitFor(() => expect(quiet.running).toBe(0));
  });

  it('a subscription can return an observable', async () => {
    expect(await (await get('/observed')).text()).toBe('data: {"n":1}\n\nevent: end\ndata: \n\n');
  });

  it('a quiet subscription sends pings, and stops when its client disconnects', async () => {
    const stopping = new AbortController();
    const response = await rest('/quiet', { signal: stopping.signal });
    const { value } = (await response.body?.getReader().read()) ?? {};
    expect(new TextDecoder().decode(value)).toBe(':\n\n');
    expect(running()).toEqual([1, 1]);
    stopping.abort();
    await vi.waitFor(() => expect(running()).toEqual([0, 0]));
  });

  it('HEAD of a subscription is answered with the headers, and the subscription stops', async () => {
    const response = await rest('/quiet', { method: 'HEAD' });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('content-length')).toBeNull();
    await vi.waitFor(() => expect(running()).toEqual([0, 0]));
  });

  it('the document describes the events of a subscription, Last-Event-ID and the errors', () => {
    const operation = document.paths['/ticks']?.['get'];
    expect(operation?.responses['200']?.content).toEqual({
      'text/event-stream': { schema: { $ref: '#/components/schemas/Tick' } },
    });
    expect(operation?.parameters?.map(({ name, in: place }) => `${place} ${name}`)).toContain(
      'header Last-Event-ID',
    );
    expect(Object.keys(operation?.responses ?? {})).toEqual(['200', '400', '500', '503', '504']);
  });
});

describe('a response of bytes', () => {
  it.each([
    ['array', 'image/png'],
    ['blob', 'image/gif'],
    ['untyped', 'image/png'],
    ['stream', 'image/png'],
    ['iterable', 'image/png'],
  ])('GET /bytes/%s is answered with bytes of the type %s', async (kind, type) => {
    const response = await get(`/bytes/${kind}`);
    expect(response.headers.get('content-type')).toBe(type);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(png);
  });

  it('a stream that yields a string is cancelled and aborts the connection, so that the client does not accept a part as complete', async () => {
    const begun = records.length;
    await expect(get('/bytes/text').then((response) => response.arrayBuffer())).rejects.toThrow(
      // The errors of clients over a port and in process.
      /terminated|fetch failed|Yield Uint8Array chunks/,
    );
    await vi.waitFor(() =>
      expect(records[begun]).toMatchObject({
        operation: 'text',
        isStream: true,
        error: expect.any(TypeError),
      }),
    );
    await vi.waitFor(() => expect(cancelled.texts).toBe(1));
  });

  it('a file stream is closed after GET and after HEAD', async () => {
    await (await get('/bytes/file')).arrayBuffer();
    await rest('/bytes/file', { method: 'HEAD' });
    await vi.waitFor(() => expect(files.map(({ closed }) => closed)).toEqual([true, true]));
  });

  it('a ReadableStream is cancelled when its client disconnects, and after HEAD', async () => {
    const stopping = new AbortController();
    const response = await rest('/bytes/endless', { signal: stopping.signal });
    await response.body?.getReader().read();
    expect(cancelled.streams).toBe(0);
    stopping.abort();
    await vi.waitFor(() => expect(cancelled.streams).toBe(1));
    await rest('/bytes/endless', { method: 'HEAD' });
    await vi.waitFor(() => expect(cancelled.streams).toBe(2));
  });

  it('a response of bytes that is not bytes is answered with 500', async () => {
    expect((await get('/bytes/none')).status).toBe(500);
  });

  it('the document describes a response of bytes by its media type', () => {
    expect(document.paths['/bytes/array']?.['get']?.responses['200']?.content).toEqual({
      'image/png': { schema: { type: 'string', format: 'binary' } },
    });
  });
});
