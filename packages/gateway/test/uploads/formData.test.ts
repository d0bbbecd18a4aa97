import type { RestMeta } from 'trpc-gateway/procedures';
import { shown } from '@petstore/testing/shown';
import type { AnyTRPCRouter } from '@trpc/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { zfd } from 'zod-form-data';
import { post as postJson, startShape } from '../startShape.ts';
import { formOf, memorySpool, post as postForm, t } from './routers.ts';

/** Procedures that accept the same form over REST and over tRPC. */

const contentTypes = ['multipart/form-data'];
const post = (more: Partial<RestMeta> = {}) => postForm({ contentTypes, ...more });

type Fields = readonly (readonly [name: string, value: string | File])[];

const photo = new File(['hello'], 'a.png', { type: 'image/png' });

const echo = (input: unknown, more: Partial<RestMeta> = {}) =>
  post(more)
    .input(input as z.ZodType)
    .output(z.json())
    .mutation((call) => shown(call.input) as never);

/** Serves one procedure. Returns functions that send a form to it, over REST and tRPC. */
async function start(
  procedure: ReturnType<typeof echo>,
  options: Parameters<typeof startShape<AnyTRPCRouter>>[1] = {},
) {
  const { document, origin, restJson, server } = await startShape<AnyTRPCRouter>(
    t.router({ add: procedure }),
    options,
  );
  /** Resolves with the status and the output or the message, as tRPC sends them. */
  const trpcInit = async (init: RequestInit) => {
    const response = await server.fetch(`${origin}/trpc/add`, init);
    const { error, result } = (await response.json()) as TrpcResponse;
    return [response.status, error ? error.message : result?.data];
  };
  return {
    document,
    rest: (fields: Fields, path = '/album', headers: Record<string, string> = {}) =>
      restJson(path, { headers, ...formOf(...fields) }),
    trpc: (fields: Fields) => trpcInit(formOf(...fields)),
    trpcJson: (input: unknown) => trpcInit(postJson(input)),
  };
}

interface TrpcResponse {
  readonly result?: { readonly data: unknown };
  readonly error?: { readonly message: string };
}

/** The helper of documenso, instead of `zfd.formData`. */
const objectOfForm = (shape: z.core.$ZodShape) =>
  z.preprocess((data) => {
    if (!(data instanceof FormData)) return data;
    return Object.fromEntries(
      Array.from(new Set(data.keys()), (key) => {
        const values = data.getAll(key);
        return [key, values.length > 1 ? values : values[0]];
      }),
    );
  }, z.object(shape));

/** tRPC's recipe for an input without a schema. */
const formFunction = (value: unknown) => {
  if (value instanceof FormData) return value;
  throw new Error('The input must be a FormData.');
};

const sent: Fields = [
  ['name', 'Summer'],
  ['tag', 'a'],
  ['photo', photo],
  ['tag', 'b'],
];
const received = ['FormData', ['name', 'Summer'], ['tag', 'a'], ['photo', 'a.png image/png 5'], ['tag', 'b']];
const asObject = { name: 'Summer', tag: ['a', 'b'], photo: 'a.png image/png 5' };

const Photo = z.object({
  name: z.string().max(6),
  tag: z.array(z.string()),
  size: z.number().optional(),
  taken: z.date().optional(),
  isPublic: z.boolean().optional(),
  photo: z.file(),
  more: z.array(z.file()).optional(),
});

describe('an input that accepts a FormData', () => {
  const accepted: Readonly<Record<string, readonly [input: unknown, output: unknown, fields?: Fields]>> = {
    'z.instanceof(FormData)': [z.instanceof(FormData), received],
    'z.any()': [z.any(), received],
    'a pipe from z.instanceof(FormData) to an object': [
      z
        .instanceof(FormData)
        .transform((form) => ({ ...Object.fromEntries(form), tag: form.getAll('tag') }))
        .pipe(z.object({ name: z.string(), tag: z.array(z.string()), photo: z.file() })),
      asObject,
    ],
    'zfd.formData()': [
      zfd.formData({
        name: zfd.text(),
        tag: zfd.repeatableOfType(zfd.text()),
        photo: zfd.file(),
      }),
      asObject,
    ],
    'z.preprocess() that reads a FormData': [
      objectOfForm({ name: z.string(), tag: z.array(z.string()), photo: z.file() }),
      asObject,
    ],
    'a function': [formFunction, received],
    'z.preprocess() that returns its value': [
      z.preprocess((value) => value, z.object({ size: z.int() })),
      { size: 5 },
      [['size', '5']],
    ],
    'z.preprocess() that reads the properties of an object': [
      z.preprocess(
        (value) => ({ size: 1, ...(value as object) }),
        z.object({ name: z.string(), size: z.int() }),
      ),
      { name: 'x', size: 1 },
      [['name', 'x']],
    ],
    'z.object() with every type of field': [
      Photo,
      {
        ...asObject,
        size: 1.5,
        taken: 'Date(2026-02-28T12:00:00.000Z)',
        isPublic: false,
        more: [asObject.photo],
      },
      [
        ...sent,
        ['size', '1.5'],
        ['taken', '2026-02-28T12:00:00Z'],
        ['isPublic', 'false'],
        ['more', photo],
        ['unknown', 'x'],
        ['unknown', photo],
      ],
    ],
    'z.object() with one item of an array': [Photo, { ...asObject, tag: ['a'] }, sent.slice(0, 3)],
    'z.object() with an empty text': [Photo, { ...asObject, name: '' }, [['name', ''], ...sent.slice(1)]],
  };
  it.each(Object.entries(accepted))(
    '%s receives the same input over REST and over tRPC',
    async (_name, [input, output, fields = sent]) => {
      const { rest, trpc } = await start(echo(input));
      expect([await rest(fields), await trpc(fields)]).toEqual([
        [200, output],
        [200, output],
      ]);
    },
  );

  it('an invalid form has the issues of its own parser over REST and over tRPC', async () => {
    const { rest, trpc } = await start(echo(zfd.formData({ name: zfd.text(), size: zfd.numeric() })));
    const invalid: Fields = [['size', 'large']];
    const [status, body] = await rest(invalid);
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({ message: expect.stringMatching(/^name: .*size: /) }),
    ]);
    expect(await trpc(invalid)).toEqual([400, expect.stringMatching(/"name"[^]*"size"/)]);
  });

  it('a FormData can have 1000 texts and files, over REST and over tRPC', async () => {
    const { rest, trpc } = await start(echo(z.instanceof(FormData)));
    const empty = new File([], 'a');
    const fields: Fields = Array.from({ length: 1000 }, (_, at) => [`${at}`, at % 2 === 0 ? empty : '']);
    expect([(await rest(fields))[0], (await trpc(fields))[0]]).toEqual([200, 200]);
    const message = 'The body has more than 1000 fields.';
    for (const more of [empty, ''] as const) {
      const tooMany: Fields = [...fields, ['more', more]];
      expect(await rest(tooMany)).toEqual([400, { code: 'BAD_REQUEST', message, status: 400 }]);
      expect(await trpc(tooMany)).toEqual([400, message]);
    }
  });

  it('an optional FormData is undefined without a body over REST', async () => {
    const { restJson } = await startShape(
      t.router({
        add: post()
          .input(z.instanceof(FormData).optional())
          .output(z.json())
          .mutation(({ input }) => (input === undefined ? 'none' : 'a form')),
      }),
    );
    expect(await restJson('/album', { method: 'POST' })).toEqual([200, 'none']);
    expect(await restJson('/album', { method: 'POST', body: new FormData() })).toEqual([200, 'a form']);
  });

  const binary = { type: 'string', format: 'binary' };
  const described: Readonly<Record<string, readonly [input: unknown, schema: object, encoding?: object]>> = {
    'zfd.formData() as its object, with files as binary': [
      zfd.formData({
        name: zfd.text(),
        size: zfd.numeric(z.int().optional()),
        photo: zfd.file(),
        more: zfd.repeatableOfType(zfd.file()),
        pet: zfd.json(z.object({ id: z.string() })),
      }),
      {
        type: 'object',
        properties: {
          name: { type: 'string' },
          size: expect.objectContaining({ type: 'integer' }),
          photo: binary,
          more: { type: 'array', items: binary },
          pet: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
        },
        // `zfd.repeatable` reads no field as an empty list.
        required: ['name', 'photo', 'pet'],
      },
      { photo: { contentType: '*/*' }, more: { contentType: '*/*' } },
    ],
    'a pipe as its object': [
      z
        .instanceof(FormData)
        .transform((form) => ({ ...Object.fromEntries(form), name: 'x' }))
        .pipe(z.object({ name: z.string(), photo: z.file().mime('image/png') })),
      {
        type: 'object',
        properties: {
          name: { type: 'string' },
          photo: { ...binary, contentMediaType: 'image/png' },
        },
        required: ['name', 'photo'],
      },
      { photo: { contentType: 'image/png' } },
    ],
    'an object with the media types of its files, and of fields that need one': [
      z.object({
        any: z.file(),
        image: z.file().mime('image/png').optional(),
        images: z.array(z.file().mime(['image/png', 'image/jpeg'])),
        title: z.string(),
        year: z.union([z.int(), z.literal('unknown')]),
      }),
      expect.objectContaining({ required: ['any', 'images', 'title', 'year'] }),
      {
        any: { contentType: '*/*' },
        image: { contentType: 'image/png' },
        images: { contentType: 'image/png, image/jpeg' },
        year: { contentType: 'text/plain' },
      },
    ],
    'an object with an id by its name': [
      zfd.formData(z.object({ name: zfd.text() }).meta({ id: 'Album' })),
      { $ref: '#/components/schemas/Album' },
    ],
    'z.instanceof(FormData) as an object without properties': [z.instanceof(FormData), { type: 'object' }],
    'a function as an object without properties': [formFunction, { type: 'object' }],
  };
  it.each(Object.entries(described))(
    'the document describes %s',
    async (_name, [input, schema, encoding]) => {
      const { document } = await start(echo(input));
      expect(document.paths['/album']?.['post']?.requestBody).toEqual({
        required: true,
        content: { 'multipart/form-data': { schema, ...(encoding && { encoding }) } },
      });
    },
  );
});

describe('an input of z.object() with z.file()', () => {
  const invalid: Readonly<Record<string, readonly [fields: Fields, message: string | RegExp]>> = {
    'a number that is not one, and other invalid fields': [
      [
        ['size', 'large'],
        ['name', 'Summer 2026'],
        ['photo', photo],
      ],
      /^size: must be a number; .*name: .*; .*tag: /,
    ],
    'a field that is sent twice': [[...sent, ['name', 'x']], 'name: must not be sent more than once.'],
    'a text instead of a file': [
      [...sent.filter(([name]) => name !== 'photo'), ['photo', 'x']],
      'photo: must be a file.',
    ],
    'a file instead of a text': [[...sent.slice(1), ['name', photo]], 'name: must be text, not a file.'],
  };
  it.each(Object.entries(invalid))(
    'a form with %s has the same issues over REST and over tRPC',
    async (_name, [fields, message]) => {
      const { rest, trpc } = await start(echo(Photo));
      const [status, body] = (await rest(fields)) as [number, { readonly message: string }];
      expect([status, body.message]).toEqual([400, expect.stringMatching(message)]);
      expect(await trpc(fields)).toEqual([400, body.message]);
    },
  );

  it('fields of a form over tRPC are converted that REST has in the path, in the query and in headers', async () => {
    const { rest, trpc } = await start(
      echo(z.object({ id: z.int(), days: z.array(z.int()), tenant: z.int(), photo: z.file() }), {
        path: '/album/{id}',
        in: { days: 'query', tenant: 'header' },
      }),
    );
    const output = { id: 5, days: [1, 2], tenant: 7, photo: asObject.photo };
    expect(await rest([['photo', photo]], '/album/5?days=1&days=2', { tenant: '7' })).toEqual([200, output]);
    expect(
      await trpc([
        ['id', '5'],
        ['days', '1'],
        ['days', '2'],
        ['tenant', '7'],
        ['photo', photo],
      ]),
    ).toEqual([200, output]);
  });

  it('unknown fields of a loose object are passed on over REST and over tRPC', async () => {
    const { rest, trpc } = await start(
      echo(z.looseObject({ id: z.int(), photo: z.file() }), { path: '/album/{id}' }),
    );
    const fields: Fields = [
      ['tag', 'a'],
      ['photo', photo],
      ['tag', 'b'],
      ['more', photo],
    ];
    const output = { id: 5, tag: ['a', 'b'], photo: asObject.photo, more: asObject.photo };
    expect(await rest(fields, '/album/5')).toEqual([200, output]);
    expect(await trpc([['id', '5'], ...fields])).toEqual([200, output]);
  });

  it('a JSON call over tRPC of a procedure that accepts forms receives the JSON as it is', async () => {
    const { rest, trpc, trpcJson } = await start(
      echo(z.object({ name: z.string(), size: z.int() }), {
        contentTypes: ['application/json', ...contentTypes],
      }),
    );
    const fields = Object.entries({ name: 'x', size: '5' });
    expect(await rest(fields)).toEqual([200, { name: 'x', size: 5 }]);
    expect(await trpc(fields)).toEqual([200, { name: 'x', size: 5 }]);
    expect(await trpcJson({ name: 'x', size: 5 })).toEqual([200, { name: 'x', size: 5 }]);
    expect(await trpcJson({ name: 'x', size: '5' })).toEqual([400, expect.stringMatching(/expected number/)]);
  });

  it('files of upload: { spool: true } are kept in memory over tRPC', async () => {
    const { spool, state } = memorySpool();
    const { rest, trpc } = await start(echo(Photo, { upload: { spool: true } }), { spool });
    expect([await rest(sent), state.stored]).toEqual([[200, asObject], 1]);
    expect([await trpc(sent), state.stored]).toEqual([[200, asObject], 1]);
  });

  it('a procedure without a form over REST receives the FormData of a tRPC client as it is', async () => {
    const { trpc } = await start(
      t.procedure.input(z.instanceof(FormData)).mutation(({ input }) => shown(input)) as never,
    );
    expect(await trpc(sent)).toEqual([200, received]);
  });
});
