import { createGateway } from '@petstore/gateway';
import type { GatewayMeta, RestMeta } from '@petstore/gateway/meta';
import { type AnyTRPCRouter, initTRPC } from '@trpc/server';
import { octetInputParser } from '@trpc/server/http';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startShape } from './startShape.ts';

/** Bodies of bytes, whole or as a stream; each names the thread that it comes from. */

const t = initTRPC.meta<GatewayMeta>().create({ isDev: false });
const octets = 'application/octet-stream';
const mebibyte = 1024 * 1024;

const put = (path: RestMeta['path'], more: Partial<RestMeta> = {}) =>
  t.procedure.meta({ openapi: { method: 'PUT', path, ...more } });

/** A request whose body is bytes; a stream has no length. */
const send = (body: NonNullable<RequestInit['body']>, headers: Record<string, string> = {}): RequestInit => ({
  method: 'PUT',
  headers: { 'content-type': octets, ...headers },
  body,
  duplex: 'half',
});

async function sizeOf(stream: ReadableStream<Uint8Array>): Promise<number> {
  let size = 0;
  for await (const chunk of stream) size += chunk.byteLength;
  return size;
}

/** Chunks of 64 KiB. */
function zeros(size: number, afterwards?: () => void): ReadableStream<Uint8Array<ArrayBuffer>> {
  let left = size;
  return new ReadableStream(
    {
      pull(controller) {
        if (left > 0) controller.enqueue(new Uint8Array(Math.min(left, 65_536)));
        else if (afterwards) afterwards();
        else controller.close();
        left -= 65_536;
      },
    },
    { highWaterMark: 0 },
  );
}

const Size = z.object({ size: z.int(), name: z.string().optional() });
const stream = z.instanceof(ReadableStream<Uint8Array>);

describe('application/octet-stream', () => {
  it('is the whole input of octetInputParser, over REST as over tRPC (mcampa/trpc-to-openapi #144)', async () => {
    const { document, restJson, server, origin } = await startShape(
      t.router({
        upload: put('/file')
          .input(octetInputParser)
          .output(Size)
          .mutation(async ({ input }) => ({ size: await sizeOf(input) })),
      }),
    );
    expect(await restJson('/file', send('hello'))).toEqual([200, { size: 5 }]);
    const init = { method: 'POST', headers: { 'content-type': octets }, body: 'hello' };
    expect(await (await server.fetch(`${origin}/trpc/upload`, init)).json()).toEqual({
      result: { data: { size: 5 } },
    });
    expect(document.paths['/file']?.['put']?.requestBody).toEqual({
      required: true,
      content: { [octets]: {} },
    });
    expect((await restJson('/file', send('{}', { 'content-type': 'application/json' })))[0]).toBe(415);
  });

  it('is a property that is a stream, beside those of the path, the query and a header (no thread)', async () => {
    const { document, restJson } = await startShape(
      t.router({
        upload: put('/files/{name}', { in: { tag: 'query', tenant: { in: 'header', name: 'X-Tenant' } } })
          .input(z.object({ name: z.string(), tag: z.int(), tenant: z.string(), content: stream }))
          .output(z.json())
          .mutation(async ({ input: { content, ...rest } }) => ({ ...rest, size: await sizeOf(content) })),
      }),
    );
    const sent = send(zeros(100_000), { 'x-tenant': 'a' });
    expect(await restJson('/files/x.bin?tag=5', sent)).toEqual([
      200,
      { name: 'x.bin', tag: 5, tenant: 'a', size: 100_000 },
    ]);
    expect(await restJson('/files/x.bin?tag=no', send('x', { 'x-tenant': 'a' }))).toEqual([
      400,
      { code: 'BAD_REQUEST', status: 400, message: 'tag (query): must be an integer, such as 42 or -7.' },
    ]);
    expect(document.paths['/files/{name}']?.['put']?.parameters).toHaveLength(3);
    expect(document.paths['/files/{name}']?.['put']?.requestBody).toEqual({
      required: true,
      content: { [octets]: {} },
    });
  });

  it.each([
    ['z.instanceof(Uint8Array)', z.instanceof(Uint8Array)],
    ['z.instanceof(Blob)', z.instanceof(Blob)],
  ])('is held in memory for %s (no thread)', async (_name, schema) => {
    const { restJson } = await startShape(
      t.router({
        whole: put('/whole')
          .input(schema)
          .output(Size)
          .mutation(({ input }) => ({ size: input instanceof Blob ? input.size : input.byteLength })),
        part: put('/part/{name}')
          .input(z.object({ name: z.string(), content: schema }))
          .output(z.json())
          .mutation(async ({ input: { name, content } }) => ({
            name,
            text: await new Response(content).text(),
          })),
      }),
    );
    expect(await restJson('/whole', send('hello'))).toEqual([200, { size: 5 }]);
    expect(await restJson('/whole', send(new Uint8Array(0)))).toEqual([200, { size: 0 }]);
    expect(await restJson('/part/a', send('hello'))).toEqual([200, { name: 'a', text: 'hello' }]);
    expect((await restJson('/whole', send(zeros(mebibyte + 1))))[0]).toBe(413);
  });

  it('may have other media types, which contentTypes lists (trpc/trpc-openapi #58)', async () => {
    const { document, restJson } = await startShape(
      t.router({
        photo: put('/photo', { contentTypes: ['image/png', 'image/jpeg'] })
          .input(z.instanceof(Blob))
          .output(z.json())
          .mutation(({ input }) => input.type),
      }),
    );
    expect(await restJson('/photo', send('x', { 'content-type': 'image/jpeg' }))).toEqual([
      200,
      'image/jpeg',
    ]);
    expect((await restJson('/photo', send('x')))[0]).toBe(415);
    // The procedure decodes the bytes
    expect(await restJson('/photo', send('x', { 'content-type': 'image/png; charset=latin1' }))).toEqual([
      200,
      'image/png; charset=latin1',
    ]);
    expect(document.paths['/photo']?.['put']?.requestBody).toEqual({
      required: true,
      content: { 'image/png': {}, 'image/jpeg': {} },
    });
  });

  it('is limited by maxBytes of its own, beyond maxBodyBytes, which other bodies keep', async () => {
    const router = t.router({
      upload: put('/file', { upload: { maxBytes: 2 * mebibyte } })
        .input(stream)
        .output(Size)
        .mutation(async ({ input }) => ({ size: await sizeOf(input) })),
      other: put('/other')
        .input(stream)
        .output(Size)
        .mutation(async ({ input }) => ({ size: await sizeOf(input) })),
      note: put('/note')
        .input(z.object({ text: z.string() }))
        .output(Size)
        .mutation(({ input }) => ({ size: input.text.length })),
    });
    const { records, restJson } = await startShape(router, { maxBodyBytes: 1000 });
    expect(await restJson('/file', send(zeros(2 * mebibyte)))).toEqual([200, { size: 2 * mebibyte }]);
    const tooLarge = (max: number) => [
      413,
      { code: 'PAYLOAD_TOO_LARGE', status: 413, message: `The body is larger than ${max} bytes.` },
    ];
    expect(await restJson('/file', send(zeros(2 * mebibyte + 1)))).toEqual(tooLarge(2 * mebibyte));
    expect(records.at(-1)?.limit).toBe('body-bytes');
    expect(await restJson('/other', send(zeros(1001)))).toEqual(tooLarge(1000));
    const note = JSON.stringify({ text: 'x'.repeat(1000) });
    expect(await restJson('/note', send(note, { 'content-type': 'application/json' }))).toEqual(
      tooLarge(1000),
    );
  });

  it('is 413 by its Content-Length, before the procedure runs', async () => {
    let calls = 0;
    const { restJson } = await startShape(
      t.router({
        upload: put('/file')
          .input(stream)
          .output(Size)
          .mutation(() => ({ size: (calls += 1) })),
      }),
      { maxBodyBytes: 10 },
    );
    expect((await restJson('/file', send('12345678901', { 'content-length': '11' })))[0]).toBe(413);
    expect(calls).toBe(0);
  });

  it('need not be read: the response arrives', async () => {
    const { restJson } = await startShape(
      t.router({
        upload: put('/file')
          .input(stream)
          .output(Size)
          .mutation(() => ({ size: 0 })),
      }),
    );
    expect(await restJson('/file', send(zeros(mebibyte)))).toEqual([200, { size: 0 }]);
    expect(await restJson('/file', send('again'))).toEqual([200, { size: 0 }]);
  });

  it('ends with an error, and the signal aborts, where the client disconnects in the middle', async () => {
    const seen = Promise.withResolvers<readonly unknown[]>();
    const began = Promise.withResolvers<void>();
    const { rest } = await startShape(
      t.router({
        upload: put('/file')
          .input(stream)
          .output(Size)
          .mutation(async ({ input, signal }) => {
            began.resolve();
            const error: unknown = await sizeOf(input).catch((cause: unknown) => cause);
            await new Promise((resolve) => setTimeout(resolve, 20));
            seen.resolve([error instanceof Error, signal?.aborted]);
            return { size: 0 };
          }),
      }),
    );
    const abort = new AbortController();
    const body = zeros(131_072, () => {});
    const response = rest('/file', { ...send(body), signal: abort.signal });
    response.catch(() => {});
    await began.promise;
    abort.abort();
    await expect(response).rejects.toMatchObject({ name: 'AbortError' });
    expect(await seen.promise).toEqual([true, true]);
  });
});

it.each([
  [
    'a text beside the bytes in the body',
    put('/x').input(z.object({ content: stream, title: z.string() })),
    /"content" is the whole body, so "title" has no place in it; say in: \{ title: "query" \}/,
  ],
  [
    'two streams',
    put('/x').input(z.object({ one: stream, two: stream })),
    /"one" is the whole body, so "two" has no place in it/,
  ],
  [
    'bytes in a query',
    put('/x', { in: { content: 'query' } }).input(z.object({ content: stream })),
    /"content" is of the kind "custom"/,
  ],
  [
    'bytes as JSON',
    put('/x', { contentTypes: ['application/json'] }).input(z.object({ content: stream })),
    /its body is bytes, which application\/json cannot carry/,
  ],
  [
    'a limit that is no number',
    put('/x', { upload: { maxBytes: -1 } }).input(stream),
    /its upload\.maxBytes is -1; it must be a positive number/,
  ],
  [
    'limits of uploads without one',
    put('/x', { upload: { maxBytes: 5 } }).input(z.object({ title: z.string() })),
    /its metadata has upload, and its input has no stream/,
  ],
])('%s is rejected at start', async (_name, procedure, message) => {
  const router = t.router({ upload: procedure.output(z.void()).mutation(() => {}) });
  await expect(started(router)).rejects.toThrow(message);
});

it.each(['Image/PNG', 'image/png; q=1', 'image/*', 'png'])(
  'bytes of %j, which no request would match, are rejected at start',
  async (type) => {
    const upload = put('/x', { contentTypes: [type] })
      .input(stream)
      .output(z.void());
    await expect(started(t.router({ upload: upload.mutation(() => {}) }))).rejects.toThrow(
      `its content type "${type}" is not a media type that a request is compared with; write it in lower case and without parameters, such as image/png`,
    );
  },
);

const started = (router: AnyTRPCRouter) =>
  createGateway({ router, createContext: () => ({}), document: { title: 'Shape', version: '1.0.0' } });
