import { describe, expect, it } from 'vitest';
import { startShape } from '../startShape.ts';
import { mebibyte, octets, put, Size, sizeOf, stream, t } from './routers.ts';
import * as routers from './routers.ts';

/** Bodies of bytes, as a whole or as a stream. Titles name the GitHub threads that ask for them. */

/** A request with a body of bytes. A stream has no Content-Length. */
const send = (body: NonNullable<RequestInit['body']>, headers: Record<string, string> = {}): RequestInit => ({
  method: 'PUT',
  headers: { 'content-type': octets, ...headers },
  body,
  duplex: 'half',
});

/** A body of bytes in the document. */
const bytesOf = (...types: readonly string[]) => ({
  required: true,
  content: Object.fromEntries(types.map((type) => [type, { schema: { type: 'string', format: 'binary' } }])),
});

/** A stream of zeros in chunks of 64 KiB. Calls `afterwards` at the end in place of closing the stream. */
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

describe('application/octet-stream', () => {
  it('octetInputParser receives the body over REST and tRPC (mcampa/trpc-to-openapi #144)', async () => {
    const { document, expectRest, server, origin } = await startShape(routers.octetParser);
    await expectRest([
      ['/file', send('hello'), 200, { size: 5 }],
      ['/file', send('{}', { 'content-type': 'application/json' }), 415],
    ]);
    const init = { method: 'POST', headers: { 'content-type': octets }, body: 'hello' };
    expect(await (await server.fetch(`${origin}/trpc/upload`, init)).json()).toEqual({
      result: { data: { size: 5 } },
    });
    expect(document.paths['/file']?.['put']?.requestBody).toEqual(bytesOf(octets));
  });

  it('a body of bytes can be one property of an input, with others in the path, the query and a header', async () => {
    const { document, expectRest } = await startShape(routers.streamBesideFields);
    const sent = send(zeros(100_000), { 'x-tenant': 'a' });
    const invalid = send('x', { 'x-tenant': 'a' });
    await expectRest([
      ['/files/x.bin?tag=5', sent, 200, { name: 'x.bin', tag: 5, tenant: 'a', size: 100_000 }],
      ['/files/x.bin?tag=no', invalid, 400, 'tag (query): must be an integer, such as 42 or -7.'],
    ]);
    expect(document.paths['/files/{name}']?.['put']?.parameters).toHaveLength(3);
    expect(document.paths['/files/{name}']?.['put']?.requestBody).toEqual(bytesOf(octets));
  });

  it.each([
    ['z.instanceof(Uint8Array)', routers.wholeBytes],
    ['z.instanceof(Blob)', routers.wholeBlob],
  ])('an input of %s is the whole body in memory', async (_name, router) => {
    const { expectRest } = await startShape(router);
    await expectRest([
      ['/whole', send('hello'), 200, { size: 5 }],
      ['/whole', send(new Uint8Array(0)), 200, { size: 0 }],
      ['/part/a', send('hello'), 200, { name: 'a', text: 'hello' }],
      ['/whole', send(zeros(mebibyte + 1)), 413],
    ]);
  });

  it('contentTypes lists other media types of a body of bytes (trpc/trpc-openapi #58)', async () => {
    const { document, expectRest } = await startShape(routers.photos);
    // Parameters of the type are passed to the procedure, which decodes the bytes.
    const withParameter = 'image/png; charset=latin1';
    await expectRest([
      ['/photo', send('x', { 'content-type': 'image/jpeg' }), 200, 'image/jpeg'],
      ['/photo', send('x'), 415],
      ['/photo', send('x', { 'content-type': withParameter }), 200, withParameter],
    ]);
    expect(document.paths['/photo']?.['put']?.requestBody).toEqual(bytesOf('image/png', 'image/jpeg'));
  });

  it('upload.maxSize replaces maxBodySize for a body of bytes, and other bodies keep maxBodySize', async () => {
    const { records, restJson } = await startShape(routers.limitedUploads, { maxBodySize: 1000 });
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

  it('a body over the limit by its Content-Length is rejected with 413 before the procedure runs, and one at the limit is accepted', async () => {
    let calls = 0;
    const { restJson } = await startShape(
      t.router({
        upload: put('/file')
          .input(stream)
          .output(Size)
          .mutation(() => ({ size: (calls += 1) })),
      }),
      { maxBodySize: 10 },
    );
    expect((await restJson('/file', send('12345678901', { 'content-length': '11' })))[0]).toBe(413);
    expect(calls).toBe(0);
    expect((await restJson('/file', send('1234567890', { 'content-length': '10' })))[0]).toBe(200);
  });

  it('a procedure can respond without reading the body', async () => {
    const { expectRest } = await startShape(routers.unread);
    await expectRest([
      ['/file', send(zeros(mebibyte)), 200, { size: 0 }],
      ['/file', send('again'), 200, { size: 0 }],
    ]);
  });

  it('a body of bytes ends with an error and the signal aborts if the client disconnects in the middle', async () => {
    const ended = Promise.withResolvers<readonly unknown[]>();
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
            ended.resolve([error instanceof Error, signal?.aborted]);
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
    expect(await ended.promise).toEqual([true, true]);
  });
});
