import { httpSubscriptionLink } from '@trpc/client';
import { EventSource } from 'eventsource';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { clientOf, type Endpoints } from '../clients.ts';
import { collect } from '../collect.ts';
import { quickRetry } from '../quickRetry.ts';
import type { Start } from '../start.ts';

const sseClient = (endpoints: Endpoints, options: Partial<Parameters<typeof httpSubscriptionLink>[0]> = {}) =>
  clientOf(
    httpSubscriptionLink({
      ...endpoints.events,
      eventSourceOptions: { fetch: quickRetry(endpoints.http.fetch) },
      ...(options as object),
    }),
  );

const inputOf = (input: object) => `input=${encodeURIComponent(JSON.stringify(input))}`;

/** Reads a stream until it contains `needle` or ends, and returns the text read so far. */
async function readUntil(response: Response, needle: string): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.includes(needle)) break;
  }
  return text;
}

/** Features of server-sent events: pings, reconnection, time limits, parameters in the URL. */
export function serverSentEvents(start: Start): void {
  describe('server-sent events', () => {
    it('an event stream has its media type and the headers that keep proxies from buffering it', async () => {
      const { endpoints } = await start();
      const response = await endpoints.http.fetch(`${endpoints.http.url}/count?${inputOf({ to: 1 })}`);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      expect(response.headers.get('cache-control')).toBe('no-cache, no-transform');
      expect(response.headers.get('x-accel-buffering')).toBe('no');
      expect(await response.text()).toBe(
        'event: connected\ndata: {}\n\n\ndata: 1\n\n\nevent: return\ndata: \n\n\n',
      );
    });

    it('sse.ping sends pings while a subscription emits no event', async () => {
      const { endpoints } = await start({ streams: { sse: { ping: { enabled: true, intervalMs: 20 } } } });
      const response = await endpoints.http.fetch(`${endpoints.http.url}/watch`);
      const text = await readUntil(response, 'event: ping\ndata: \n\n\nevent: ping\ndata: \n\n\n');
      expect(text).toContain('event: connected');
    });

    it('httpSubscriptionLink does not pass pings to onData', async () => {
      const { endpoints } = await start({ streams: { sse: { ping: { enabled: true, intervalMs: 10 } } } });
      const seen = collect(sseClient(endpoints).count, { to: 3, everyMs: 40 });
      await seen.ended;
      expect(seen.data).toEqual([1, 2, 3]);
    });

    it('sse.client.reconnectAfterInactivityMs makes the client reconnect after a silence', async () => {
      const { endpoints, calls } = await start({
        streams: { sse: { client: { reconnectAfterInactivityMs: 60 } } },
      });
      const seen = collect(sseClient(endpoints).watch, undefined);
      await vi.waitFor(() => expect(calls.started('watch')).toBeGreaterThanOrEqual(2));
      await vi.waitFor(() => expect(calls.aborted('watch')).toBeGreaterThanOrEqual(1));
      seen.unsubscribe();
    });

    it('httpSubscriptionLink reconnects with Last-Event-ID after a retryable error', async () => {
      const { endpoints, calls, errors } = await start();
      const seen = collect(sseClient(endpoints).numbered, { to: 6, failAt: 4 });
      await seen.ended;
      expect(seen.error).toBeUndefined();
      expect(seen.data.map(({ data }) => data.n)).toEqual([1, 2, 3, 4, 5, 6]);
      expect(seen.events).toContain('connecting');
      expect(calls.started('numbered')).toBe(2);
      expect(errors).toEqual(['numbered SERVICE_UNAVAILABLE']);
    });

    it.each([
      ['the Last-Event-ID header', { 'last-event-id': '3' }, ''],
      ['the lastEventId parameter', {}, '&lastEventId=3'],
      ['the Last-Event-Id parameter', {}, '&Last-Event-Id=3'],
    ])('%s resumes a subscription after that event', async (_name, headers, parameter) => {
      const { endpoints } = await start();
      const response = await endpoints.http.fetch(
        `${endpoints.http.url}/numbered?${inputOf({ to: 5 })}${parameter}`,
        { headers },
      );
      const text = await response.text();
      expect(text.match(/^id: .*$/gm)).toEqual(['id: 4', 'id: 5']);
    });

    it('a restore-id event after an untracked event restores the last event id', async () => {
      const { endpoints } = await start();
      const text = await (await endpoints.http.fetch(`${endpoints.http.url}/mixed`)).text();
      expect(text).toContain('data: 2\nid: \n\n\nevent: restore-id\ndata: \nid: a\n\n\n');
    });

    it('a native EventSource receives the events, their ids and the return event', async () => {
      const { endpoints } = await start();
      const source = new EventSource(`${endpoints.http.url}/numbered?${inputOf({ to: 3 })}`, endpoints.http);
      onTestFinished(() => source.close());
      const ids: string[] = [];
      source.addEventListener('message', ({ lastEventId }) => ids.push(lastEventId));
      await new Promise((resolve) => {
        source.addEventListener('return', resolve);
      });
      expect(ids).toEqual(['1', '2', '3']);
    });

    it('closing a native EventSource aborts the procedure’s signal', async () => {
      const { endpoints, calls } = await start();
      const source = new EventSource(`${endpoints.http.url}/watch`, endpoints.http);
      await vi.waitFor(() => expect(calls.count).toBe(1));
      source.close();
      await vi.waitFor(() => expect(calls.aborted('watch')).toBe(1));
      await vi.waitFor(() => expect(calls.count).toBe(0));
    });

    it('sse.maxDurationMs ends the stream, and the client resumes after the last event', async () => {
      const { endpoints, calls } = await start({ streams: { sse: { maxDurationMs: 100 } } });
      const seen = collect(sseClient(endpoints).numbered, { to: 12, everyMs: 20 });
      await seen.ended;
      expect(seen.data.map(({ data }) => data.n)).toEqual(Array.from({ length: 12 }, (_, n) => n + 1));
      expect(calls.started('numbered')).toBeGreaterThanOrEqual(2);
      expect(calls.aborted('numbered')).toBeGreaterThanOrEqual(1);
      expect(calls.count).toBe(0);
    });

    it('sse.emitAndEndImmediately ends the stream after the first event, and the client reconnects for the next', async () => {
      const { endpoints, calls } = await start({ streams: { sse: { emitAndEndImmediately: true } } });
      const seen = collect(sseClient(endpoints).numbered, { to: 3, everyMs: 30 });
      await seen.ended;
      expect(seen.data.map(({ data }) => data.n)).toEqual([1, 2, 3]);
      expect(calls.started('numbered')).toBeGreaterThanOrEqual(3);
    });

    it('sse.enabled: false rejects subscriptions', async () => {
      const { endpoints } = await start({ streams: { sse: { enabled: false } } });
      const seen = collect(sseClient(endpoints).count, { to: 1 });
      await seen.ended;
      expect(seen.error).toMatchObject({ data: { code: 'METHOD_NOT_SUPPORTED' } });
    });

    it('createContext receives connectionParams, whether a value or a function evaluated for each connection', async () => {
      const { endpoints, contexts } = await start();
      let connections = 0;
      const trpc = sseClient(endpoints, {
        connectionParams: async () => {
          connections += 1;
          return { token: `secret ${connections}` };
        },
      });
      const seen = collect(trpc.numbered, { to: 4, failAt: 3 });
      await seen.ended;
      expect(contexts.map(({ connectionParams }) => connectionParams)).toEqual([
        { token: 'secret 1' },
        expect.anything(),
      ]);
      const fixed = sseClient(endpoints, { connectionParams: { token: 'ümläut & more' } });
      const watched = collect(fixed.watch, undefined);
      await vi.waitFor(() => expect(watched.data).toHaveLength(1));
      expect(watched.data[0]).toMatchObject({
        connectionParams: { token: 'ümläut & more' },
        type: 'subscription',
        batch: false,
        calls: ['watch'],
        hasSignal: true,
      });
    });

    it('connectionParams that are not JSON or not strings are rejected with 400', async () => {
      const { endpoints } = await start();
      for (const params of ['%7B', '%7B%22a%22%3A1%7D', '5']) {
        const response = await endpoints.http.fetch(`${endpoints.http.url}/watch?connectionParams=${params}`);
        expect(response.status).toBe(400);
        expect(await response.json()).toMatchObject({ error: { data: { code: 'PARSE_ERROR' } } });
      }
    });

    it('an error thrown by createContext is sent as a serialized-error event', async () => {
      const { endpoints } = await start({
        admit: () => {
          throw new Error('Not you');
        },
      });
      const text = await readUntil(
        await endpoints.http.fetch(`${endpoints.http.url}/watch`),
        'serialized-error',
      );
      expect(text).toContain('event: connected');
    });

    it('a subscription in a batch is rejected', async () => {
      const { endpoints } = await start();
      const response = await endpoints.http.fetch(
        `${endpoints.http.url}/count?batch=1&input=${encodeURIComponent('{"0":{"to":1}}')}`,
      );
      expect(await response.json()).toMatchObject([
        { error: { message: 'Cannot batch subscription calls' } },
      ]);
    });
  });
}
