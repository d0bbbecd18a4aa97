import type { Spool, UploadedFile } from 'trpc-gateway/procedures';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { startShape } from '../startShape.ts';
import { formOf, mebibyte, memorySpool, post, sizeOf, spooledAlbumOf, t } from './routers.ts';

/** Forms whose files are not kept in memory. Titles name the GitHub threads that ask for them. */

const part = (name: string, value: string, filename?: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"${
    filename === undefined ? '' : `; filename="${filename}"`
  }\r\n\r\n${value}\r\n`;

it('a list may be sent with brackets, as PHP, Rails, qs and axios send it: in a query and a form, over REST and tRPC', async () => {
  const { server, expectRest } = await startShape(
    t.router({
      add: post({
        contentTypes: ['multipart/form-data', 'application/x-www-form-urlencoded'],
        in: { ids: 'query' },
      })
        .input(z.object({ tags: z.array(z.string()), ids: z.array(z.int()), one: z.string().optional() }))
        .output(z.unknown())
        .mutation(({ input }) => input),
    }),
  );
  const value = { tags: ['a', 'b', 'c'], ids: [1, 2] };
  const tags = Object.entries({ 'tags[]': 'a', 'tags[7]': 'b', tags: 'c' });
  const other = Object.entries({ 'one[]': 'x', 'tags[x]': 'y', 'tags[0][]': 'z' });
  const urlencoded = { method: 'POST', body: new URLSearchParams([...tags, ...other]) };
  await expectRest([
    ['/album?ids[]=1&ids[0]=2', formOf(...tags, ...other), 200, value],
    ['/album?ids[0]=1&ids%5B%5D=2', urlencoded, 200, value],
    ['/album?ids[]=x', urlencoded, 400, 'ids.0 (query): must be an integer, such as 42 or -7.'],
  ]);
  const inForm = formOf(...tags, ['ids[]', '1'], ['ids[]', '2']);
  const response = await server.fetch(`${server.origin}/trpc/add`, inForm);
  expect(await response.json()).toEqual({ result: { data: value } });
});

/** Serves an album whose files a spool keeps in memory. */
async function startAlbum(album = spooledAlbumOf(), maxBodySize?: number) {
  const { spool, state } = memorySpool();
  return { ...(await startShape(album, { spool, ...(maxBodySize && { maxBodySize }) })), state };
}

describe('a form with z.file() and upload: { spool: true }', () => {
  it('the spool keeps the files of a form until the call ends, with fields before and after them (honojs/middleware #755)', async () => {
    const during = vi.fn(async () => {
      expect(state.kept).toBe(2);
    });
    const { restJson, state } = await startAlbum(spooledAlbumOf(during), 100);
    const sent = formOf(
      ['photo', new File(['hello'], 'a.png', { type: 'image/png' })],
      ['more', new File([new Uint8Array(mebibyte)], 'b.txt', { type: 'text/plain' })],
      ['unknown', new File(['x'], 'x')],
      ['title', 'Summer'],
    );
    expect(await restJson('/album', sent)).toEqual([
      200,
      { title: 'Summer', photo: 'hello', more: [['b.txt', mebibyte, 'text/plain']] },
    ]);
    expect(during).toHaveBeenCalledOnce();
    await vi.waitFor(() => expect(state.kept).toBe(0));
  });

  it.each([
    ['an invalid input', formOf(['photo', new File(['x'], 'a')]), 400],
    ['an error of the procedure', formOf(['title', 'fail'], ['photo', new File(['x'], 'a')]), 500],
    [
      'a body that is too large',
      formOf(['photo', new File(['x'], 'a')], ['more', new File([new Uint8Array(4 * mebibyte)], 'b')]),
      413,
    ],
  ])('the spool removes files after %s', async (_name, sent, status) => {
    const album = spooledAlbumOf((title) => {
      if (title === 'fail') throw new Error('unexpected');
    });
    const { restJson, state } = await startAlbum(album);
    expect((await restJson('/album', sent))[0]).toBe(status);
    await vi.waitFor(() => expect(state.kept).toBe(0));
  });

  const file = (content: string | Uint8Array<ArrayBuffer> = 'x', name = 'a') => new File([content], name);

  it.each([
    ['a file over maxFileSize', { maxFileSize: 4 }, 'The file "a" is larger than 4 bytes.'],
    ['more files than maxFiles', { maxFiles: 1 }, 'The body has more than 1 files.'],
    ['a body over maxSize', { maxSize: 100 }, 'The body is larger than 100 bytes.'],
  ])('a form with %s is rejected with 413', async (_name, limits, message) => {
    const { records, restJson } = await startAlbum(spooledAlbumOf(undefined, limits));
    const sent = formOf(['title', 'x'], ['photo', file('hello')], ['more', file()]);
    expect(await restJson('/album', sent)).toEqual([413, expect.objectContaining({ message })]);
    expect(records.at(-1)?.limit).toBe('body-bytes');
  });

  it('a form with files of exactly maxFileSize, and exactly maxFiles of them, is accepted', async () => {
    const { expectRest } = await startAlbum(spooledAlbumOf(undefined, { maxFileSize: 5, maxFiles: 2 }));
    const sent = formOf(['title', '\ufeffx'], ['photo', file('hello')], ['more[0]', file('hello', 'b')]);
    const value = { title: '\ufeffx', photo: 'hello', more: [['b', 5, 'application/octet-stream']] };
    await expectRest([['/album', sent, 200, value]]);
  });

  it('a form with fields over maxBodySize is rejected with 413, and with more than 1000 fields with 400', async () => {
    const { expectRest } = await startAlbum(spooledAlbumOf(), 1000);
    const half = 'x'.repeat(500);
    const empty = (count: number) =>
      Array.from({ length: count }, (_, at): [string, string] => [`f${at}`, '']);
    await expectRest([
      ['/album', formOf(['title', half], ['other', half], ['photo', file()]), 200],
      ['/album', formOf(['title', half], ['other', `${half}x`]), 413],
      ['/album', formOf(['title', ''], ...empty(999), ['photo', file()]), 200],
      ['/album', formOf(['title', ''], ...empty(1000)), 400],
      ['/album', formOf(['title', 'x'], ['photo', file(new Uint8Array(100_000))]), 200],
    ]);
  });

  it.each([
    ['that ends in a file', part('title', 'x') + part('photo', 'x', 'a'), /ends before its last boundary/],
    ['that ends in a field', part('title', 'x'), /ends before its last boundary/],
    ['with a part without a name', '--b\r\n\r\n\r\n--b--', /with a name/],
    ['with a field that is not UTF-8', '\xff', /"title" is not valid UTF-8/],
    ['with a field that ends within a character of UTF-8', 'a\xc3', /"title" is not valid UTF-8/],
  ])('a form %s is rejected with 400', async (_name, text, message) => {
    const { expectRest } = await startAlbum();
    const body = text.startsWith('--b') ? text : Buffer.from(`${part('title', text)}--b--`, 'latin1');
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    await expectRest([['/album', { method: 'POST', headers, body }, 400, message]]);
  });

  it('what a spool leaves unread is dropped, and it cannot be read later', async () => {
    const files: UploadedFile[] = [];
    const spool: Spool = async (sent) => {
      files.push(sent);
      return { file: new File([], sent.name), remove: async () => {} };
    };
    const { restJson } = await startShape(spooledAlbumOf(undefined, { maxSize: 4 * mebibyte }), { spool });
    const large = () => file(new Uint8Array(mebibyte));
    const sent = formOf(['photo', large()], ['more', large()], ['title', 'x']);
    const more = [['a', 0, '']];
    expect(await restJson('/album', sent)).toEqual([200, { title: 'x', photo: '', more }]);
    await expect(sizeOf((files[0] as UploadedFile).stream())).rejects.toThrow(
      'The file "a" was not read to its end before the next file was requested',
    );
  });

  it('a spool that ignores the error of a file over maxFileSize does not get the next file', async () => {
    const spool: Spool = async ({ name, stream }) => {
      await sizeOf(stream()).catch(() => {});
      return { file: new File([], name), remove: async () => {} };
    };
    const { restJson } = await startShape(spooledAlbumOf(undefined, { maxFileSize: 1 }), { spool });
    const sent = formOf(['title', 'x'], ['photo', file('xy')], ['more', file()]);
    expect((await restJson('/album', sent))[0]).toBe(413);
  });

  it('the spool removes files if the client disconnects in the middle', async () => {
    const { rest, state } = await startAlbum();
    // Keeps the body reachable: in process, a stream that nothing can continue is collected together with its call.
    const continued = Promise.withResolvers<void>();
    async function* chunks() {
      yield part('photo', 'one', 'a') + part('more', 'two', 'b').slice(0, -4);
      await continued.promise;
    }
    const abort = new AbortController();
    const response = rest('/album', {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
      body: ReadableStream.from(chunks()).pipeThrough(new TextEncoderStream()),
      duplex: 'half',
      signal: abort.signal,
    });
    response.catch(() => {});
    await vi.waitFor(() => expect(state.kept).toBe(1));
    abort.abort();
    await vi.waitFor(() => expect(state).toMatchObject({ kept: 0, errors: 1 }));
    continued.resolve();
  });
});
