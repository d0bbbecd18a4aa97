import { fileStream, type Spool, type UploadedFile } from 'trpc-gateway/procedures';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { startShape } from '../startShape.ts';
import { Album, album, albumOf, mebibyte, post, sizeOf, spooledAlbumOf, t } from './routers.ts';

/** Forms whose files are not kept in memory. Titles name the GitHub threads that ask for them. */

function form(...fields: readonly (readonly [name: string, value: string | File])[]): RequestInit {
  const body = new FormData();
  for (const [name, value] of fields) body.append(name, value);
  return { method: 'POST', body };
}

/** A request whose body is sent chunk by chunk. */
const chunked = (chunks: AsyncIterable<string>): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'multipart/form-data; boundary=b' },
  body: ReadableStream.from(chunks).pipeThrough(new TextEncoderStream()),
  duplex: 'half',
});

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
  const tags = [
    ['tags[]', 'a'],
    ['tags[7]', 'b'],
    ['tags', 'c'],
  ] as [string, string][];
  const other = [
    ['one[]', 'x'],
    ['tags[x]', 'y'],
    ['tags[0][]', 'z'],
  ] as [string, string][];
  const urlencoded = { method: 'POST', body: new URLSearchParams([...tags, ...other]) };
  await expectRest([
    ['/album?ids[]=1&ids[0]=2', form(...tags, ...other), 200, value],
    ['/album?ids[0]=1&ids%5B%5D=2', urlencoded, 200, value],
    ['/album?ids[]=x', urlencoded, 400, 'ids.0 (query): must be an integer, such as 42 or -7.'],
  ]);
  const inForm = form(...tags, ['ids[]', '1'], ['ids[]', '2']);
  const response = await server.fetch(`${server.origin}/trpc/add`, inForm);
  expect(await response.json()).toEqual({ result: { data: value } });
});

describe('a form with fileStream()', () => {
  it('a form with fileStream() has its fields validated first, and its files read one by one in order (trpc/trpc-openapi #229)', async () => {
    const { document, expectRest } = await startShape(album);
    const sent = form(
      ['title', 'Summer'],
      ['year', '2026'],
      ['other', 'unknown'],
      ['photos', new File(['hello'], 'a.png', { type: 'image/png' })],
      ['unknown', new File(['x'], 'x')],
      ['photos', new File([new Uint8Array(200_000)], 'b.bin')],
    );
    const files = [
      ['a.png', 'image/png', 5],
      ['b.bin', 'application/octet-stream', 200_000],
    ];
    const invalid = form(['year', 'x'], ['photos', new File(['x'], 'a')]);
    await expectRest([
      ['/album', sent, 200, { title: 'Summer', year: 2026, files }],
      ['/album', form(['title', 'None']), 200, { title: 'None', files: [] }],
      ['/album', invalid, 400, /^year: must be an integer.*title: /],
    ]);
    expect(document.paths['/album']?.['post']?.requestBody).toEqual({
      required: true,
      description: 'Send the fields before the files of `photos`. The files are optional.',
      content: {
        'multipart/form-data': {
          schema: {
            type: 'object',
            required: ['title'],
            properties: {
              title: { type: 'string' },
              year: expect.objectContaining({ type: 'integer' }),
              photos: {
                type: 'array',
                items: { type: 'string', format: 'binary' },
              },
            },
          },
          encoding: { photos: { contentType: '*/*' } },
        },
      },
    });
  });

  it('the files of fileStream() may have the name of their field with brackets', async () => {
    const { restJson } = await startShape(album);
    const sent = form(
      ['title', 'x'],
      ['photos[]', new File(['a'], 'a')],
      ['photos[1]', new File(['b'], 'b')],
    );
    const files = ['a', 'b'].map((name) => [name, 'application/octet-stream', 1]);
    expect(await restJson('/album', sent)).toEqual([200, { title: 'x', files }]);
  });

  it('fileStream() passes a file to the procedure before the rest of the form arrives', async () => {
    const began = Promise.withResolvers<void>();
    const { restJson } = await startShape(
      t.router({
        add: post()
          .input(Album)
          .output(z.json())
          .mutation(async ({ input }) => {
            const names: string[] = [];
            for await (const { name } of input.photos) {
              names.push(name);
              began.resolve();
            }
            return names;
          }),
      }),
    );
    async function* chunks() {
      yield part('title', 'x') + part('photos', 'one', 'a');
      await began.promise;
      yield `${part('photos', 'two', 'b')}--b--`;
    }
    expect(await restJson('/album', chunked(chunks()))).toEqual([200, ['a', 'b']]);
  });

  it('a form with fileStream() and a field after a file is rejected with 400', async () => {
    const { expectRest } = await startShape(album);
    const sent = form(['title', 'x'], ['photos', new File(['x'], 'a')], ['year', '2026']);
    const message = 'The field "year" comes after a file. Send the fields before the files.';
    await expectRest([['/album', sent, 400, message]]);
  });

  it.each([
    ['a file over maxFileSize', { maxFileSize: 4 }, 413, 'The file "a" is larger than 4 bytes.'],
    ['more files than maxFiles', { maxFiles: 1 }, 413, 'The body has more than 1 files.'],
    ['a body over maxSize', { maxSize: 100 }, 413, 'The body is larger than 100 bytes.'],
  ])('a form with fileStream() and %s is rejected with 413', async (_name, upload, status, message) => {
    const { records, restJson } = await startShape(albumOf(upload));
    const sent = form(['title', 'x'], ['photos', new File(['hello'], 'a')], ['photos', new File(['x'], 'b')]);
    expect(await restJson('/album', sent)).toEqual([status, expect.objectContaining({ message })]);
    expect(records.at(-1)?.limit).toBe('body-bytes');
  });

  it.each([
    ['files of exactly maxFileSize', { maxFileSize: 5 }],
    ['exactly maxFiles files', { maxFiles: 2 }],
  ])('a form with fileStream() and %s is accepted', async (_name, upload) => {
    const { restJson } = await startShape(albumOf(upload));
    const sent = form(
      ['title', 'x'],
      ['photos', new File(['hello'], 'a')],
      ['photos', new File(['hello'], 'b')],
    );
    expect((await restJson('/album', sent))[0]).toBe(200);
  });

  it('a form with fileStream() and fields over maxBodySize is rejected with 413, and with more than 1000 fields with 400', async () => {
    const { expectRest } = await startShape(albumOf({ maxSize: mebibyte }), { maxBodySize: 1000 });
    const half = 'x'.repeat(500);
    const empty = (count: number) =>
      Array.from({ length: count }, (_, at): [string, string] => [`f${at}`, '']);
    await expectRest([
      ['/album', form(['title', half], ['other', half]), 200],
      ['/album', form(['title', half], ['other', `${half}x`]), 413],
      ['/album', form(['title', ''], ...empty(999)), 200],
      ['/album', form(['title', ''], ...empty(1000)), 400],
      ['/album', form(['title', 'x'], ['photos', new File([new Uint8Array(100_000)], 'a')]), 200],
    ]);
  });

  it.each([
    ['that ends in a file', part('title', 'x') + part('photos', 'x', 'a'), /ends before its last boundary/],
    ['that ends in a field', part('title', 'x'), /ends before its last boundary/],
    ['with a part without a name', '--b\r\n\r\n\r\n--b--', /with a name/],
    ['with a field that is not UTF-8', '\xff', /"title" is not valid UTF-8/],
    ['with a field that ends within a character of UTF-8', 'a\xc3', /"title" is not valid UTF-8/],
  ])('a form %s is rejected with 400', async (_name, text, message) => {
    const { expectRest } = await startShape(album);
    const body = text.startsWith('--b') ? text : Buffer.from(`${part('title', text)}--b--`, 'latin1');
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    await expectRest([['/album', { method: 'POST', headers, body }, 400, message]]);
  });

  it('a form with fileStream() keeps a byte order mark in a field, as in a form that is held in memory', async () => {
    const { expectRest } = await startShape(album);
    await expectRest([['/album', form(['title', '\ufeffx']), 200, { title: '\ufeffx', files: [] }]]);
  });

  it('a procedure that ignores the error of a file over maxFileSize receives it again instead of the next file', async () => {
    const { restJson } = await startShape(
      t.router({
        add: post({ upload: { maxFileSize: 1 } })
          .input(Album)
          .output(z.json())
          .mutation(async ({ input }) => {
            for await (const { stream } of input.photos) await sizeOf(stream()).catch(() => {});
            return null;
          }),
      }),
    );
    const sent = form(['title', 'x'], ['photos', new File(['xy'], 'a')], ['photos', new File(['x'], 'b')]);
    expect((await restJson('/album', sent))[0]).toBe(413);
  });

  it('the rest of a file that is not read is dropped, and so is the rest of the body', async () => {
    const { expectRest } = await startShape(
      t.router({
        add: post({ upload: { maxSize: 4 * mebibyte } })
          .input(Album)
          .output(z.json())
          .mutation(async ({ input }) => {
            const names: string[] = [];
            for await (const { name, stream } of input.photos) {
              names.push(name);
              if (name === 'b') {
                await stream().getReader().read();
                if (input.title === 'break') break;
              }
            }
            return names;
          }),
      }),
    );
    const large = (name: string) => ['photos', new File([new Uint8Array(mebibyte)], name)] as const;
    const titled = (title: string) => form(['title', title], large('a'), large('b'), large('c'));
    await expectRest([
      ['/album', titled('x'), 200, ['a', 'b', 'c']],
      ['/album', titled('break'), 200, ['a', 'b']],
    ]);
  });

  it('a file that is read after the next one was taken throws an error that names it', async () => {
    const { restJson } = await startShape(
      t.router({
        add: post()
          .input(Album)
          .output(z.json())
          .mutation(async ({ input }) => {
            const files: UploadedFile[] = [];
            for await (const file of input.photos) files.push(file);
            return Promise.all(
              files.map(({ stream }) => sizeOf(stream()).catch((error: Error) => error.message)),
            );
          }),
      }),
    );
    const sent = form(['title', 'x'], ['photos', new File(['x'], 'a')], ['photos', new File(['x'], 'b')]);
    const dropped = (name: string) =>
      `The file "${name}" was not read to its end before the next file was requested, so its rest was discarded. Read each file before you request the next one.`;
    expect(await restJson('/album', sent)).toEqual([200, [dropped('a'), dropped('b')]]);
  });
});

/** A spool that keeps files in memory, and counts the kept files and the errors. */
function memorySpool() {
  const state = { kept: 0, errors: 0 };
  const spool: Spool = async ({ name, stream, type }) => {
    try {
      const file = new File([await new Response(stream()).blob()], name, { type });
      state.kept += 1;
      return { file, remove: async () => void (state.kept -= 1) };
    } catch (error) {
      state.errors += 1;
      throw error;
    }
  };
  return { spool, state };
}

describe('a form with z.file() and upload: { spool: true }', () => {
  it('the spool keeps the files of a form until the call ends, with fields before and after them (honojs/middleware #755)', async () => {
    const { spool, state } = memorySpool();
    let during = 0;
    const { restJson } = await startShape(
      spooledAlbumOf(() => {
        during = state.kept;
      }),
      { spool, maxBodySize: 100 },
    );
    const sent = form(
      ['photo', new File(['hello'], 'a.png', { type: 'image/png' })],
      ['more', new File([new Uint8Array(mebibyte)], 'b.txt', { type: 'text/plain' })],
      ['unknown', new File(['x'], 'x')],
      ['title', 'Summer'],
    );
    expect(await restJson('/album', sent)).toEqual([
      200,
      { title: 'Summer', photo: 'hello', more: [['b.txt', mebibyte, 'text/plain']] },
    ]);
    expect(during).toBe(2);
    await vi.waitFor(() => expect(state.kept).toBe(0));
  });

  it.each([
    ['an invalid input', form(['photo', new File(['x'], 'a')]), 400],
    ['an error of the procedure', form(['title', 'fail'], ['photo', new File(['x'], 'a')]), 500],
    [
      'a body that is too large',
      form(['photo', new File(['x'], 'a')], ['more', new File([new Uint8Array(4 * mebibyte)], 'b')]),
      413,
    ],
  ])('the spool removes files after %s', async (_name, sent, status) => {
    const { spool, state } = memorySpool();
    const { restJson } = await startShape(
      spooledAlbumOf((title) => {
        if (title === 'fail') throw new Error('unexpected');
      }),
      { spool },
    );
    expect((await restJson('/album', sent))[0]).toBe(status);
    await vi.waitFor(() => expect(state.kept).toBe(0));
  });

  it('the spool removes files if the client disconnects in the middle', async () => {
    const { spool, state } = memorySpool();
    const { rest } = await startShape(spooledAlbumOf(), { spool });
    // Keeps the body reachable: in process, a stream that nothing can continue is collected together with its call.
    const continued = Promise.withResolvers<void>();
    async function* chunks() {
      yield part('photo', 'one', 'a') + part('more', 'two', 'b').slice(0, -4);
      await continued.promise;
    }
    const abort = new AbortController();
    const response = rest('/album', { ...chunked(chunks()), signal: abort.signal });
    response.catch(() => {});
    await vi.waitFor(() => expect(state.kept).toBe(1));
    abort.abort();
    await vi.waitFor(() => expect(state).toEqual({ kept: 0, errors: 1 }));
    continued.resolve();
  });
});

it('the document names the media types of the files of a form, and of fields that need one', async () => {
  const { document } = await startShape(
    t.router({
      add: post({ contentTypes: ['multipart/form-data'] })
        .input(
          z.object({
            any: z.file(),
            image: z.file().mime('image/png').optional(),
            images: z.array(z.file().mime(['image/png', 'image/jpeg'])),
            title: z.string(),
            year: z.union([z.int(), z.literal('unknown')]),
          }),
        )
        .output(z.void())
        .mutation(() => {}),
    }),
  );
  const content = document.paths['/album']?.['post']?.requestBody?.content['multipart/form-data'];
  expect(content).toMatchObject({
    encoding: {
      any: { contentType: '*/*' },
      image: { contentType: 'image/png' },
      images: { contentType: 'image/png, image/jpeg' },
      year: { contentType: 'text/plain' },
    },
  });
  expect(Object.keys((content as { encoding?: object }).encoding ?? {})).not.toContain('title');
  expect(JSON.stringify(content)).not.toContain('contentEncoding');
});

it.each([
  [
    'fileStream() beside z.file()',
    post().input(z.object({ photos: fileStream(), photo: z.file() })),
    /"photo" is a file, which only multipart\/form-data supports, without fileStream\(\)/,
  ],
  [
    'two fileStream()',
    post().input(z.object({ photos: fileStream(), more: fileStream() })),
    /"more" is bytes, which only a whole body can be/,
  ],
  [
    'fileStream() in a JSON body',
    post({ contentTypes: ['application/json'] }).input(Album),
    /its content type application\/json is not supported for its body; use multipart\/form-data/,
  ],
  [
    'upload.spool without the option spool',
    post({ contentTypes: ['multipart/form-data'], upload: { spool: true } }).input(
      z.object({ photo: z.file() }),
    ),
    /its upload\.spool requires the option spool of createGateway, such as temporaryFiles\(\) of trpc-gateway\/node/,
  ],
])('createGateway rejects %s', async (_name, procedure, message) => {
  const router = t.router({ upload: procedure.output(z.void()).mutation(() => {}) });
  await expect(startShape(router)).rejects.toThrow(message);
});
