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

/** Albums that are served somewhere. */
export interface RunningAlbums {
  readonly origin: string;
  readonly close: () => Promise<void>;
}

const png = new Uint8Array([137, 80, 78, 71, 0, 255]);
const holiday = { title: 'Holiday', year: 2026, tags: ['sea'] };

/** What the albums are to do wherever they run. */
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
      return { status: response.status, location: response.headers.get('location'), answer: received };
    };
    const add = async (fields: object = {}) => {
      const { location, answer: response } = await call('POST', '/albums', { ...holiday, ...fields });
      return { path: String(location).replace('/v1', ''), album: response as { readonly id: number } };
    };

    it('takes bodies, and says where what it made is', async () => {
      const { status, location, answer: response } = await call('POST', '/albums', holiday);
      expect(status).toBe(201);
      expect(response).toMatchObject({ ...holiday, createdAt: expect.stringMatching(/^\d{4}-.*Z$/) });
      expect(location).toBe(`/v1/albums/${(response as { readonly id: number }).id}`);
    });

    it('takes queries: numbers, dates, and names that are repeated', async () => {
      const { album } = await add({ year: 1999, tags: ['a', 'b'] });
      expect(await call('GET', '/albums?year=1999&tag=a&tag=b')).toMatchObject({ answer: [album] });
      expect(await call('GET', '/albums?year=1999&tag=c')).toMatchObject({ answer: [] });
      expect(await call('GET', '/albums?since=2999-01-01T00:00:00Z')).toMatchObject({ answer: [] });
      expect(await call('GET', '/albums?year=MCMXCIX')).toMatchObject({ status: 400 });
    });

    it('takes every method', async () => {
      const { path } = await add();
      expect(await call('PUT', path, { title: 'At sea', year: 2025 })).toMatchObject({
        status: 200,
        answer: { title: 'At sea', year: 2025, tags: [] },
      });
      expect(await call('PATCH', path, { title: 'Ashore' })).toMatchObject({ answer: { title: 'Ashore' } });
      expect(await call('GET', path)).toMatchObject({ answer: { title: 'Ashore', year: 2025 } });
      expect(await call('DELETE', path)).toMatchObject({ status: 204, answer: undefined });
      expect(await call('GET', path)).toMatchObject({
        answer: { code: 'NOT_FOUND', message: 'There is no such album.', status: 404 },
      });
    });

    it('takes a form with a file, and gives the file back', async () => {
      const { path } = await add();
      const form = new FormData();
      form.set('file', new File([png], 'boat.png', { type: 'image/png' }));
      const made = await fetch(`${albums.origin}/v1${path}/photos`, { method: 'POST', body: form });
      expect(await made.json()).toEqual({ id: 1, name: 'boat.png', bytes: png.length });
      const photo = await fetch(`${albums.origin}/v1${path}/photos/1`);
      expect(photo.headers.get('content-type')).toBe('image/png');
      expect(new Uint8Array(await photo.arrayBuffer())).toEqual(png);
    });

    it('streams what happens', async () => {
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

    it('describes itself in a valid OpenAPI document', async () => {
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
              // A form is sent as it is, and alone.
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

    it('a Date arrives as one, in a batch too', async () => {
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

    it('a form with a file is an input', async () => {
      const client = connect();
      const { id } = await client.create.mutate(holiday);
      const form = new FormData();
      form.set('albumId', String(id));
      form.set('file', new File([png], 'boat.png'));
      expect(await client.photos.send.mutate(form)).toEqual({ id: 1, name: 'boat.png', bytes: png.length });
      expect(await client.photos.download.query({ albumId: id, photoId: 1 })).toEqual(png);
    });

    it('a subscription tells what happens', async () => {
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
