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
  });
}
