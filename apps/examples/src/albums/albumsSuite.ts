import { Validator } from '@seriousme/openapi-schema-validator';
import {
  createTRPCClient,
  createWSClient,
  httpBatchLink,
  httpLink,
  isNonJsonSerializable,
  splitLink,
  wsLink,
} from '@trpc/client';
import superjson from 'superjson';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { AlbumRouter } from './router.ts';

/** A running albums service. */
export interface RunningAlbums {
  readonly origin: string;
  readonly close: () => Promise<void>;
}

const png = new Uint8Array([137, 80, 78, 71, 0, 255]);
const holiday = { title: 'Holiday', year: 2026, tags: ['sea'] };

/** The tests of the albums service, however it is started. */
export function albumsSuite(start: () => Promise<RunningAlbums>): void {
  let albums: RunningAlbums;
  beforeAll(async () => {
    albums = await start();
  }, 60_000);
  afterAll(() => albums.close());

  describe('over REST', () => {
    const call = async (method: string, path: string, body?: object) => {
      const response = await fetch(`${albums.origin}/v1${path}`, {
        method,
        ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const received = text === '' ? undefined : (JSON.parse(text) as unknown);
      return { status: response.status, location: response.headers.get('location'), body: received };
    };
    const add = async (fields: object = {}) => {
      const { location, body: response } = await call('POST', '/albums', { ...holiday, ...fields });
      return { path: String(location).replace('/v1', ''), album: response as { readonly id: number } };
    };

    it('POST /albums creates an album and returns its Location', async () => {
      const { status, location, body: response } = await call('POST', '/albums', holiday);
      expect(status).toBe(201);
      expect(response).toMatchObject({ ...holiday, createdAt: expect.stringMatching(/^\d{4}-.*Z$/) });
      expect(location).toBe(`/v1/albums/${(response as { readonly id: number }).id}`);
    });

    it('GET /albums filters by numbers, dates and repeated parameters', async () => {
      const { album } = await add({ year: 1999, tags: ['a', 'b'] });
      expect(await call('GET', '/albums?year=1999&tag=a&tag=b')).toMatchObject({ body: [album] });
      expect(await call('GET', '/albums?year=1999&tag=c')).toMatchObject({ body: [] });
      expect(await call('GET', '/albums?since=2999-01-01T00:00:00Z')).toMatchObject({ body: [] });
      expect(await call('GET', '/albums?year=MCMXCIX')).toMatchObject({ status: 400 });
    });

    it('PUT, PATCH, GET and DELETE /albums/{albumId} replace, rename, read and remove an album', async () => {
      const { path } = await add();
      expect(await call('PUT', path, { title: 'At sea', year: 2025 })).toMatchObject({
        status: 200,
        body: { title: 'At sea', year: 2025, tags: [] },
      });
      expect(await call('PATCH', path, { title: 'Ashore' })).toMatchObject({ body: { title: 'Ashore' } });
      expect(await call('GET', path)).toMatchObject({ body: { title: 'Ashore', year: 2025 } });
      expect(await call('DELETE', path)).toMatchObject({ status: 204, body: undefined });
      expect(await call('GET', path)).toMatchObject({
        body: { code: 'NOT_FOUND', message: 'There is no such album.', status: 404 },
      });
    });

    it('POST /albums/{albumId}/photos uploads a file of a form, and GET downloads it', async () => {
      const { path } = await add();
      const form = new FormData();
      form.set('file', new File([png], 'boat.png', { type: 'image/png' }));
      const created = await fetch(`${albums.origin}/v1${path}/photos`, { method: 'POST', body: form });
      expect(await created.json()).toEqual({ id: 1, name: 'boat.png', bytes: png.length });
      const photo = await fetch(`${albums.origin}/v1${path}/photos/1`);
      expect(photo.headers.get('content-type')).toBe('image/png');
      expect(new Uint8Array(await photo.arrayBuffer())).toEqual(png);
    });

    it('GET /albums/{albumId}/changes streams changes as server-sent events', async () => {
      const { path } = await add();
      const end = new AbortController();
      const events = await fetch(`${albums.origin}/v1${path}/changes`, { signal: end.signal });
      onTestFinished(() => end.abort());
      expect(events.headers.get('content-type')).toBe('text/event-stream');
      void call('PATCH', path, { title: 'Changed' });
      let text = '';
      for await (const chunk of events.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        text += chunk;
        if (text.includes('data: {')) break;
      }
      expect(text).toContain('data: {"what":"changed"}');
    });

    it('GET /openapi.json is a valid OpenAPI document with every operation', async () => {
      const response = await fetch(`${albums.origin}/openapi.json`);
      const document = (await response.json()) as Record<string, unknown>;
      expect(await new Validator().validate(document)).toEqual({ valid: true });
      const operations = Object.values(document['paths'] as Record<string, object>).flatMap((item) =>
        Object.keys(item),
      );
      expect(operations.toSorted().join(' ')).toBe('delete get get get get get patch post post put');
    });
  });

  describe('over tRPC, with superjson', () => {
    function connect() {
      const url = `${albums.origin}/trpc`;
      const sockets = createWSClient({ url: url.replace('http', 'ws'), lazy: { enabled: true, closeMs: 0 } });
      onTestFinished(() => sockets.close());
      const http = { url, transformer: superjson };
      return createTRPCClient<AlbumRouter>({
        links: [
          splitLink({
            condition: ({ type }) => type === 'subscription',
            true: wsLink({ client: sockets, transformer: superjson }),
            false: splitLink({
              condition: ({ input }) => isNonJsonSerializable(input),
              // A form is sent unchanged and outside of batches.
              true: httpLink({
                url,
                transformer: { serialize: (form) => form, deserialize: superjson.deserialize },
              }),
              false: httpBatchLink(http),
            }),
          }),
        ],
      }).albums;
    }

    it('a tRPC client receives a Date as a Date, also in a batch', async () => {
      const client = connect();
      const album = await client.create.mutate(holiday);
      expect(album.createdAt).toBeInstanceOf(Date);
      const [same, none] = await Promise.all([
        client.get.query({ albumId: album.id }),
        client.list.query({ since: new Date(album.createdAt.getTime() + 1), tag: ['nowhere'] }),
      ]);
      expect(same).toEqual(album);
      expect(none).toEqual([]);
    });

    it('a tRPC client sends a form with a file as input', async () => {
      const client = connect();
      const { id } = await client.create.mutate(holiday);
      const form = new FormData();
      form.set('albumId', String(id));
      form.set('file', new File([png], 'boat.png'));
      expect(await client.photos.send.mutate(form)).toEqual({ id: 1, name: 'boat.png', bytes: png.length });
      expect(await client.photos.download.query({ albumId: id, photoId: 1 })).toEqual(png);
    });

    it('a tRPC client receives changes by a subscription', async () => {
      const client = connect();
      const { id: albumId } = await client.create.mutate(holiday);
      const change = await new Promise((resolve, reject) => {
        const subscription = client.changes.subscribe(
          { albumId },
          {
            onStarted: () => void client.rename.mutate({ albumId, title: 'Renamed' }),
            onData: (data) => {
              subscription.unsubscribe();
              resolve(data);
            },
            onError: reject,
          },
        );
      });
      expect(change).toEqual({ what: 'changed' });
    });
  });
}
