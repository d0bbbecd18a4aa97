import { httpBatchLink, httpLink, httpSubscriptionLink, wsLink } from '@trpc/client';
import { describe, expect, it } from 'vitest';
import { clientOf, wsClient } from '../clients.ts';
import { collect } from '../collect.ts';
import type { Start } from '../start.ts';

/** The adapters' options, the arguments of createContext, and the media types of inputs. */
export function options(start: Start): void {
  describe('adapter options', () => {
    it('allowMethodOverride allows queries by POST', async () => {
      const { endpoints } = await start({ trpc: { allowMethodOverride: true } });
      const single = clientOf(httpLink({ ...endpoints.http, methodOverride: 'POST' }));
      const batch = clientOf(httpBatchLink({ ...endpoints.http, methodOverride: 'POST' }));
      expect(await single.hello.query({ name: 'POST' })).toBe('Hello, POST!');
      expect(await batch.hello.query({ name: 'POST' })).toBe('Hello, POST!');
    });

    it('allowMethodOverride allows subscriptions by POST', async () => {
      const { endpoints } = await start({ trpc: { allowMethodOverride: true } });
      const response = await endpoints.http.fetch(`${endpoints.http.url}/count`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"to":2}',
      });
      expect(await response.text()).toContain('data: 2\n');
    });

    it('a query by POST without allowMethodOverride is 405 with Allow', async () => {
      const { endpoints } = await start();
      const trpc = clientOf(httpLink({ ...endpoints.http, methodOverride: 'POST' }));
      await expect(trpc.hello.query()).rejects.toMatchObject({
        data: { code: 'METHOD_NOT_SUPPORTED', httpStatus: 405 },
        meta: { response: { headers: expect.toSatisfy((all: Headers) => all.get('allow') === 'GET') } },
      });
    });

    it('responseMeta sets the status and headers of calls, streams and subscriptions', async () => {
      const { endpoints } = await start({
        trpc: {
          responseMeta: ({ paths, errors, type, eagerGeneration }) => ({
            status: errors.length > 0 ? 418 : 202,
            headers: new Headers([
              ['x-paths', (paths ?? []).join(' ')],
              ['x-type', `${type} ${String(eagerGeneration)}`],
              ['set-cookie', 'a=1'],
              ['set-cookie', 'b=2'],
            ]),
          }),
        },
      });
      const fetchMeta = async (target: string, headers: Record<string, string> = {}) => {
        const response = await endpoints.http.fetch(`${endpoints.http.url}${target}`, { headers });
        await response.text();
        return [
          response.status,
          response.headers.get('x-paths'),
          response.headers.get('x-type'),
          response.headers.getSetCookie(),
        ];
      };
      const cookies = ['a=1', 'b=2'];
      expect(await fetchMeta('/hello')).toEqual([202, 'hello', 'query false', cookies]);
      expect(await fetchMeta('/throwError?input=%22CONFLICT%22')).toEqual([
        418,
        'throwError',
        'query false',
        cookies,
      ]);
      expect(await fetchMeta('/hello,nil?batch=1')).toEqual([202, 'hello nil', 'query false', cookies]);
      expect(await fetchMeta('/hello,nil?batch=1', { 'trpc-accept': 'application/jsonl' })).toEqual([
        202,
        'hello nil',
        'query true',
        cookies,
      ]);
      expect(await fetchMeta('/count?input=%7B%22to%22%3A1%7D')).toEqual([
        202,
        'count',
        'subscription true',
        cookies,
      ]);
    });

    it('onError is called for each error with its path, over HTTP and WebSocket', async () => {
      const { endpoints, errors } = await start();
      const overHttp = clientOf(httpLink(endpoints.http));
      const overWs = clientOf(wsLink({ client: wsClient(endpoints) }));
      await expect(overHttp.throwError.query('CONFLICT')).rejects.toThrow('This is CONFLICT');
      await expect(overHttp.throwError.query('INTERNAL_SERVER_ERROR')).rejects.toThrow('This is');
      await expect(overWs.throwError.query('BAD_REQUEST')).rejects.toThrow('This is');
      expect(errors).toEqual([
        'throwError CONFLICT',
        'throwError INTERNAL_SERVER_ERROR',
        'throwError BAD_REQUEST',
      ]);
    });

    it('basePath may have several segments for HTTP, SSE and WebSocket', async () => {
      const { endpoints, contexts } = await start({ basePath: '/api/v2/rpc' });
      expect(await clientOf(httpLink(endpoints.http)).hello.query()).toBe('Hello, world!');
      expect(await clientOf(wsLink({ client: wsClient(endpoints) })).hello.query()).toBe('Hello, world!');
      const trpc = clientOf(httpSubscriptionLink(endpoints.events));
      const seen = collect(trpc.count, { to: 2 });
      await seen.ended;
      expect(seen.data).toEqual([1, 2]);
      expect(contexts.map(({ path }) => path)).toEqual(['/api/v2/rpc/hello', null, '/api/v2/rpc/count']);
    });

    it('createContext receives the procedure, type, URL and signal of a single call', async () => {
      const { endpoints } = await start();
      expect(await clientOf(httpLink(endpoints.http)).seen.query()).toEqual({
        batch: false,
        calls: ['seen'],
        type: 'query',
        accept: null,
        connectionParams: null,
        path: '/trpc/seen',
        hasSignal: true,
      });
    });

    it('an error thrown by createContext fails a call, and each call of a batch', async () => {
      const { endpoints, errors } = await start({
        admit: () => {
          throw new Error('Not you');
        },
      });
      await expect(clientOf(httpLink(endpoints.http)).hello.query()).rejects.toMatchObject({
        message: 'Not you',
        data: { code: 'INTERNAL_SERVER_ERROR' },
      });
      const batch = clientOf(httpBatchLink(endpoints.http));
      const responses = await Promise.allSettled([batch.hello.query(), batch.nil.query()]);
      expect(responses.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      expect(errors).toHaveLength(3);
    });

    it('HEAD of a procedure is 204 without a body', async () => {
      const { endpoints } = await start();
      const response = await endpoints.http.fetch(`${endpoints.http.url}/hello`, { method: 'HEAD' });
      expect(response.status).toBe(204);
      expect(await response.text()).toBe('');
    });
  });

  describe('inputs', () => {
    const file = new File([new Uint8Array(100_000).fill(7)], 'photo.jpg', { type: 'image/jpeg' });

    it('a FormData input keeps fields, repeated names, and files with their names and types', async () => {
      const { endpoints } = await start();
      const form = new FormData();
      form.append('name', 'Rex ü');
      form.append('tag', 'a');
      form.append('tag', 'b');
      form.append('photo', file);
      const trpc = clientOf(httpLink(endpoints.http));
      expect(await trpc.upload.mutate(form)).toEqual([
        ['name', 'Rex ü'],
        ['tag', 'a'],
        ['tag', 'b'],
        ['photo', expect.stringMatching(/^photo\.jpg image\/jpeg [0-9a-f]{16}$/)],
      ]);
    });

    it('a truncated multipart form is 400', async () => {
      const { endpoints } = await start();
      const response = await endpoints.http.fetch(`${endpoints.http.url}/upload`, {
        method: 'POST',
        headers: { 'content-type': 'multipart/form-data; boundary=x' },
        body: '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\nunfinished',
      });
      expect(response.status).toBe(400);
      await response.text();
    });

    it('an application/octet-stream input may be a Blob, a Uint8Array or a File', async () => {
      const { endpoints } = await start();
      const trpc = clientOf(httpLink(endpoints.http));
      const bytes = new Uint8Array(200_000).map((_, n) => n);
      const { length, digest } = await trpc.bytes.mutate(new Blob([bytes]));
      expect(length).toBe(200_000);
      expect(await trpc.bytes.mutate(bytes)).toEqual({ length, digest });
      expect((await trpc.bytes.mutate(file)).length).toBe(100_000);
      expect((await trpc.bytes.mutate(new Blob([]))).length).toBe(0);
    });

    it('an application/octet-stream input may be sent in chunks without a Content-Length', async () => {
      const { endpoints } = await start();
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let n = 0; n < 10; n += 1) controller.enqueue(new Uint8Array(10_000).fill(n));
          controller.close();
        },
      });
      const response = await endpoints.http.fetch(`${endpoints.http.url}/bytes`, {
        method: 'POST',
        headers: { 'content-type': 'application/octet-stream' },
        body,
        duplex: 'half',
      });
      expect(await response.json()).toMatchObject({ result: { data: { length: 100_000 } } });
    });

    it.each([
      ['JSON body', '/write', 'application/json', () => JSON.stringify({ name: 'x'.repeat(2000) })],
      ['octet stream', '/bytes', 'application/octet-stream', () => new Uint8Array(2000)],
    ])('a %s larger than maxBodyBytes is 413', async (_name, path, type, body) => {
      const { endpoints } = await start({ maxBodyBytes: 1000 });
      const response = await endpoints.http.fetch(`${endpoints.http.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': type },
        body: body(),
      });
      expect(response.status).toBe(413);
      expect(await response.json()).toMatchObject({ error: { data: { code: 'PAYLOAD_TOO_LARGE' } } });
    });

    it.each([
      ['text/plain', 'hello'],
      ['application/xml', '<a/>'],
      ['application/x-www-form-urlencoded', 'name=Rex'],
      ['application/jsonx', '{}'],
    ])('a request with Content-Type %s is 415', async (type, body) => {
      const { endpoints } = await start();
      const response = await endpoints.http.fetch(`${endpoints.http.url}/write`, {
        method: 'POST',
        headers: { 'content-type': type },
        body,
      });
      expect(response.status).toBe(415);
      expect(await response.json()).toMatchObject({
        error: { data: { code: 'UNSUPPORTED_MEDIA_TYPE', httpStatus: 415 } },
      });
    });
  });
}
