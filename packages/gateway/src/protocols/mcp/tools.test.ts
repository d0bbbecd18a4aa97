import { initTRPC, TRPCError } from '@trpc/server';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import type { RequestRecord } from '../../calls/requestRecord.ts';
import { declareErrors } from '../../procedures/declareErrors.ts';
import type { GatewayMeta } from '../../procedures/meta.ts';
import type { ResponseControls } from '../../http/response.ts';
import { t, testGateway } from '../../testing/testGateway.ts';
import { callTool, call as send, listTools, requestOf, revisions } from '@petstore/testing/mcpMessages';
import { mcp } from './index.ts';

const described = { mcp: { description: 'A tool of the tests.' } };
const tool = t.procedure.meta(described);

const older = { revision: '2025-11-25' } as const;

const serve = (procedures: Parameters<typeof t.router>[0], options: object = {}) =>
  testGateway(t.router(procedures), { mcp: mcp(), ...options });

const list = async (procedures: Parameters<typeof t.router>[0]) => listTools(await serve(procedures));

/** Calls a tool in an older revision. */
const call = async (procedures: Parameters<typeof t.router>[0], options: object = {}, meta: object = {}) =>
  callTool(await serve(procedures, options), Object.keys(procedures)[0] ?? '', undefined, {
    ...older,
    meta,
  });

const mutationOf = (meta: object) => ({ add: t.procedure.meta(meta).mutation(() => 1) });
const takes = (input: z.ZodType) => ({ add: tool.input(input).mutation(() => 1) });
const returns = (output: z.ZodType) => ({ add: tool.output(output).query(() => 1) });

it.each<[message: string, procedures: Parameters<typeof t.router>[0]]>([
  ['use 1 to 128 letters, digits, "_", "-" and ".", with', { ['a'.repeat(129)]: tool.query(() => 1) }],
  [
    'Procedure "books_add" cannot be a tool: "books.add" has the name "books_add" too; give one of them another, with mcp: { name: … }.',
    { books: t.router({ add: tool.query(() => 1) }), books_add: tool.query(() => 2) },
  ],
  ['Procedure "add" cannot be a tool: in its input, its value is a bigint', takes(z.bigint())],
  [
    'its input is a function, which has no JSON Schema; use z.object({ … }).',
    takes(((value: unknown) => value) as never),
  ],
  ['in its input, "photo" is a file, which JSON does not support', takes(z.object({ photo: z.file() }))],
  [
    'Procedure "add" cannot be a tool: in its output, "id" is a bigint, which JSON does not support; use z.int() or a string.',
    returns(z.object({ id: z.bigint() })),
  ],
  ['in its output, "photo" is bytes, which JSON', returns(z.object({ photo: z.instanceof(Uint8Array) }))],
  ['in its output, its value is a set, which', returns(z.union([z.instanceof(Blob), z.set(z.int())]))],
  ['its name is "add it"; use 1 to 128 letters', mutationOf({ mcp: { name: 'add it' } })],
  [
    'Procedure "add": "readonlyHint" is not an option of mcp.annotations; did you mean "readOnlyHint"?',
    mutationOf({ mcp: { annotations: { readonlyHint: true } } }),
  ],
  ['"add": mcp.maxResultBytes is 999; it must be an', mutationOf({ mcp: { maxResultBytes: 999 } })],
  ['"add": mcp.enabled is "yes"; it must be true or false.', mutationOf({ mcp: { enabled: 'yes' } })],
  [
    'mcp is "add"; it must be true, or an object such as mcp: { description: \'Adds a book.\' }',
    mutationOf({ mcp: 'add' }),
  ],
])('createGateway rejects a tool: %s', async (message, procedures) => {
  await expect(serve(procedures)).rejects.toThrow(message);
});

const isTaken = (path: string) =>
  `The tools are served at "${path}", where another protocol, the document or a route is too.`;

it.each<[options: object, message: string]>([
  [{ mcp: mcp({ path: '/trpc/add' }) }, 'procedures "add" below "/trpc" are also paths of routes'],
  [{ mcp: mcp({ path: '/v1/add' }) }, '/v1/add is the path of the document or of a route'],
  [{ mcp: mcp({ path: '/trpc' }) }, isTaken('/trpc')],
  [{ mcp: mcp({ path: '/v1' }) }, isTaken('/v1')],
  [{ document: { title: 'Pets', version: '1.0.0', path: '/mcp' } }, isTaken('/mcp')],
  [{ routes: { '/mcp': () => ({ status: 200, headers: [] }) } }, isTaken('/mcp')],
  [{ routes: { 'POST /mcp': () => ({ status: 200, headers: [] }) } }, isTaken('/mcp')],
  [{ mcp: {} }, 'mcp is {}; it must be mcp(), which trpc-gateway/mcp exports'],
])('createGateway rejects a path of tools that is taken: %#', async (options, message) => {
  const add = t.procedure.meta({ openapi: { method: 'POST', path: '/add' }, mcp: true }).mutation(() => 1);
  await expect(serve({ add }, options)).rejects.toThrow(message);
});

it.each<[options: object, message: string]>([
  [
    { path: 'tools' },
    'mcp.path is "tools"; it must be a path that starts with a slash, such as mcp({ path: \'/tools\' })',
  ],
  [{ paths: '/tools' }, '"paths" is not an option of mcp; did you mean "path"?'],
  [{ tools: true }, 'mcp.tools is true; it must be a function, such as'],
  [{ instructions: 5 }, 'mcp.instructions is 5; it must be a string'],
  ...[999, 1000.5, '80000'].map((maxResultBytes): [object, string] => [
    { maxResultBytes },
    `mcp.maxResultBytes is ${JSON.stringify(maxResultBytes)}; it must be an integer of at least 1000, or Infinity`,
  ]),
])('mcp() rejects the options %j', (options, message) => {
  expect(() => mcp(options)).toThrow(message);
});

it('tools are served at another path, also below that of REST', async () => {
  const { fetch, serves } = await serve(
    { add: tool.query(() => 1) },
    { restBasePath: '/', mcp: mcp({ path: '/tools' }) },
  );
  const response = await fetch('http://localhost/tools', { method: 'POST' });
  expect([response.status, serves('/tools')]).toEqual([415, true]);
});

const hinted = (annotations: object) => ({ mcp: { ...described.mcp, annotations } });
const changes = (destructiveHint: boolean, idempotentHint: boolean) => ({
  readOnlyHint: false,
  destructiveHint,
  idempotentHint,
});
const since = new Date('2026-01-31');
const sunset = new Date('2027-01-31');
const summary = { openapi: { summary: 'Sums.' }, mcp: true } as const;
it.each<[meta: GatewayMeta, listed: object, type?: 'query' | 'mutation' | 'subscription']>([
  [described, { annotations: { readOnlyHint: true } }, 'subscription'],
  [described, { annotations: { readOnlyHint: true } }],
  [described, { annotations: changes(true, false) }, 'mutation'],
  [{ ...described, openapi: { method: 'POST' } }, { annotations: changes(false, false) }, 'mutation'],
  [{ ...described, openapi: { method: 'PUT' } }, { annotations: changes(true, true) }, 'mutation'],
  [
    { ...hinted({ destructiveHint: false }), openapi: { method: 'DELETE' } },
    { annotations: changes(false, true) },
    'mutation',
  ],
  [hinted({ readOnlyHint: false }), { annotations: { readOnlyHint: false } }],
  [summary, { title: undefined, description: 'Sums.' }],
  [
    { openapi: { summary: 'Sum', description: 'Adds numbers.' }, mcp: true },
    { title: 'Sum', description: 'Adds numbers.' },
  ],
  [
    { openapi: { summary: 'Sum', description: 'Adds.' }, mcp: { title: 'Total', description: 'Counts.' } },
    { title: 'Total', description: 'Counts.' },
  ],
  [{ ...described, openapi: { deprecated: false } }, described.mcp],
  [{ ...summary, openapi: { ...summary.openapi, deprecated: true } }, { description: 'Deprecated. Sums.' }],
  [
    { ...described, openapi: { deprecation: { since } } },
    { description: 'Deprecated since 2026-01-31. A tool of the tests.' },
  ],
  [
    { ...described, openapi: { deprecation: { since, sunset } } },
    { description: 'Deprecated since 2026-01-31, and removed on 2027-01-31. A tool of the tests.' },
  ],
])('a tool with the metadata %j is listed with %j: %s', async (meta, listed, type = 'query') => {
  const procedure = t.procedure.meta(meta);
  const add = {
    query: () => procedure.query(() => 1),
    mutation: () => procedure.mutation(() => 1),
    subscription: () =>
      procedure.subscription(async function* values() {
        yield 1;
      }),
  }[type]();
  const [entry = {}] = await list({ add });
  const names = Object.keys(listed);
  expect(Object.fromEntries(names.map((name) => [name, Reflect.get(entry, name)]))).toEqual(listed);
});

it.each<[what: string, procedures: Parameters<typeof t.router>[0], line: string, options?: object]>([
  [
    'without tools',
    { add: t.procedure.query(() => 1), hidden: t.procedure.meta({ mcp: false }).query(() => 1) },
    "trpc-gateway: mcp() serves no tool, since no procedure has mcp in its metadata. Add mcp: { description: '…' } to each that is a tool, or choose them in mcp({ tools: ({ path }) => … }).",
  ],
  [
    'with names of properties that APIs of models reject',
    {
      add: tool
        .input(z.object({ 'filter[id]': z.string(), good: z.object({ '§': z.string() }) }))
        .query(() => 1),
      wide: tool.input(z.object({ ['a'.repeat(65)]: z.string() })).query(() => 1),
    },
    `trpc-gateway: APIs of models reject these names of properties: "filter[id]" of add, "${'a'.repeat(65)}" of wide. Use at most 64 letters, digits and "_", the first of them no digit.`,
  ],
  [
    'with outputs that may be larger than maxResultBytes',
    {
      pages: tool.output(z.array(z.object({ text: z.string().max(1000) })).max(81)).query(() => []),
      page: tool.output(z.string().max(80_000)).query(() => ''),
      any: tool.output(z.array(z.string())).query(() => []),
    },
    'trpc-gateway: by their schemas, outputs of these tools may be larger than maxResultBytes, and are then cut, or errors: pages. Declare less, or set mcp: { maxResultBytes: … }.',
  ],
  [
    'with names that only MCP allows',
    Object.fromEntries(
      ['x'.repeat(128), 'books.add', '2nd', 'x'.repeat(64), 'x', 'Ab-c_9'].map((name, at) => [
        `t${at}`,
        t.procedure.meta({ mcp: { name, description: 'Adds.' } }).query(() => 1),
      ]),
    ),
    `trpc-gateway: APIs of models reject these names of tools: ${'x'.repeat(128)}, books.add, 2nd. Use at most 64 letters, digits, "_" and "-", the first of them a letter or "_", with mcp: { name: … }.`,
  ],
  [
    'with tools without a description',
    {
      add: t.procedure.meta({ mcp: true }).query(() => 1),
      list: t.procedure.meta({ mcp: { name: 'books', description: ' ' } }).query(() => 1),
      described: tool.query(() => 1),
      summed: t.procedure.meta({ mcp: true, openapi: { summary: 'Sums.' } }).query(() => 1),
      old: t.procedure.meta({ openapi: { deprecated: true }, mcp: true }).query(() => 1),
    },
    "trpc-gateway: a model chooses a tool by its description, which these tools do not have: add, books, old. Add mcp: { description: '…' }.",
  ],
  [
    'with many tools without a description',
    Object.fromEntries(
      Array.from({ length: 12 }, (_, at) => [`t${at}`, t.procedure.meta({ mcp: true }).query(() => 1)]),
    ),
    "trpc-gateway: a model chooses a tool by its description, which these tools do not have: t0, t1, t2, t3, t4, t5, t6, t7, t8, t9 and 2 more. Add mcp: { description: '…' }.",
  ],
  [
    'with metadata of tools, but without the option mcp,',
    {
      add: t.procedure.meta({ mcp: true }).query(() => 1),
      hidden: t.procedure.meta({ mcp: false }).query(() => 1),
      // Another server may serve it, by trpc-to-mcp.
      other: t.procedure.meta({ mcp: { enabled: true } }).query(() => 1),
    },
    'trpc-gateway: these procedures have mcp in their metadata, but createGateway has no option mcp, so there are no tools: add. Add mcp: mcp(), which trpc-gateway/mcp exports, or remove the metadata.',
    { mcp: undefined },
  ],
])('createGateway %s writes one line to stderr', async (_what, procedures, line, options) => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  await serve(procedures, options);
  expect(log.mock.calls.splice(0)).toEqual([[line]]);
});

it('an output of bytes, of a list of Blobs, or of either and JSON is accepted', async () => {
  const blob = new Blob(['a'], { type: 'text/plain' });
  const Either: z.ZodType = z.union([z.instanceof(Blob), z.lazy(() => Either)]);
  const tools = {
    one: tool.output(z.instanceof(Blob)).query(() => blob),
    file: tool.output(z.file()).query(() => new File(['a'], 'a', { type: 'text/plain' })),
    several: tool.output(z.array(z.instanceof(Blob))).query(() => [blob]),
    absent: tool.output(z.instanceof(Blob).nullable()).query(() => blob),
    recursive: tool.output(Either).query(() => blob),
    either: tool.output(z.union([z.instanceof(Blob), z.object({ id: z.int() })])).query(() => blob),
  };
  const gateway = await serve(tools);
  for (const name of Object.keys(tools)) {
    const { content } = await callTool(gateway, name);
    expect(content).toEqual([{ type: 'text', text: 'a' }]);
  }
});

it('metadata of trpc-to-mcp means what it meant, with and without the option mcp', async () => {
  const annotations = { title: 'Greets', openWorldHint: true };
  const procedures = {
    greet: t.procedure
      .meta({ mcp: { enabled: true, description: 'Greets.', annotations } })
      .input(z.object({ name: z.string() }))
      .query(({ input }) => `Hello ${input.name}`),
    hidden: t.procedure.meta({ mcp: { enabled: false, description: 'Hides.' } }).query(() => 1),
    // No tool, so its input may be anything.
    text: t.procedure
      .meta({ mcp: { enabled: false } })
      .input(z.string())
      .query(() => 1),
  };
  expect(await list(procedures)).toMatchObject([
    { name: 'greet', description: 'Greets.', annotations: { readOnlyHint: true, ...annotations } },
  ]);
  const { fetch } = await serve(procedures, { mcp: undefined });
  expect((await fetch('http://localhost/mcp', { method: 'POST' })).status).toBe(404);
});

it('only an output that is an object has a schema, and not one that may be absent', async () => {
  const tools = await list({
    object: tool.output(z.object({ a: z.int() })).query(() => ({ a: 1 })),
    list: tool.output(z.array(z.int())).query(() => []),
    optional: tool.output(z.object({ a: z.int() }).optional()).query(() => undefined),
    nullable: tool.output(z.object({ a: z.int() }).nullable()).query(() => null),
    nothing: tool.output(z.void()).query(() => {}),
    any: tool.query(() => 1),
    // It may end without a value.
    events: tool
      .meta({ openapi: { method: 'GET', path: '/events', event: z.object({ a: z.int() }) } })
      .subscription(async function* events() {}),
  });
  const named = tools.filter(({ outputSchema }) => outputSchema !== undefined).map(({ name }) => name);
  expect([tools.length, named]).toEqual([7, ['object']]);
});

it('sse.maxDurationMs does not end a subscription, which clients of tools do not continue', async () => {
  const brief = initTRPC.meta<GatewayMeta>().create({ sse: { maxDurationMs: 50 } });
  const slow = brief.procedure
    .meta({ mcp: { description: 'A tool of the tests.' } })
    .subscription(async function* slow() {
      await new Promise((resolve) => setTimeout(resolve, 200));
      yield 'done';
    });
  const gateway = await testGateway(brief.router({ slow }), { mcp: mcp() });
  expect(await callTool(gateway, 'slow', {}, older)).toMatchObject({ content: [{ text: 'done' }] });
});

it('headers that describe the body of a REST response are not those of a tool', async () => {
  const ofBody = ['content-encoding', 'content-disposition', 'etag', 'last-modified', 'expires'];
  const dressed = tool.query(({ ctx }) => {
    const { response } = ctx as { readonly response: ResponseControls };
    for (const name of [...ofBody, 'content-type', 'cache-control', 'x-own']) response.header(name, 'gzip');
    return 1;
  });
  const { headers } = await send(await serve({ dressed }), 'dressed', {}, older);
  expect(ofBody.filter((name) => headers.has(name))).toEqual([]);
  expect([headers.get('content-type'), headers.get('x-own')]).toEqual(['application/json', 'gzip']);
  expect(headers.get('cache-control')).not.toBe('gzip');
});

const unsendable = declareErrors({
  BROKEN: { status: 409, message: 'It is broken.', data: z.any() },
});
const brokenData = {
  toJSON() {
    throw new RangeError('no JSON');
  },
};

const failing = tool.errors(unsendable);
const fail = () => {
  throw unsendable.BROKEN({ data: brokenData });
};
it.each([
  ['a query', failing.query(fail)],
  ['a mutation', failing.mutation(fail)],
  [
    'a subscription',
    // oxlint-disable-next-line require-yield -- it fails before its first value
    failing.subscription(async function* broken() {
      fail();
    }),
  ],
])(
  'the error of %s whose data cannot be sent is a 500, with its cause in the record',
  async (_what, broken) => {
    const records: RequestRecord[] = [];
    const onResponse = (record: RequestRecord) => records.push(record);
    const result = await call({ broken }, { onResponse });
    expect(result).toMatchObject({ isError: true });
    expect(JSON.parse(result.content[0]?.text ?? '')).toEqual({
      code: 'INTERNAL_SERVER_ERROR',
      message: 'Internal server error',
      status: 500,
    });
    await expect.poll(() => records).toMatchObject([{ error: { message: 'no JSON' } }]);
  },
);

it('an error that is too large is a 413, which is no unexpected error', async () => {
  const records: RequestRecord[] = [];
  const onResponse = (record: RequestRecord) => records.push(record);
  const large = tool.query(() => {
    throw new TRPCError({ code: 'CONFLICT', message: 'a'.repeat(2000) });
  });
  const options = { onResponse, maxResponseSize: 1000 };
  const { content } = await call({ large }, options);
  expect(content).toMatchObject([{ text: expect.stringContaining('PAYLOAD_TOO_LARGE') as string }]);
  expect(records).toMatchObject([{ error: undefined }]);
});

it.each<[what: string, output: () => unknown, produces: string | undefined, error: string]>([
  ['a number as an image', () => 5, 'image/png', 'declares produces: "image/png" but returned 5.'],
  [
    'a stream of texts',
    async function* texts() {
      yield 'a';
    },
    undefined,
    'Yield Uint8Array chunks',
  ],
])(
  '%s is an output that is neither JSON nor bytes, and an unexpected error',
  async (_what, output, produces, error) => {
    const openapi = { method: 'GET', path: '/wrong', ...(produces !== undefined && { produces }) } as const;
    const wrong = t.procedure.meta({ openapi, ...described }).query(output);
    const errors: unknown[] = [];
    const onResponse = (record: RequestRecord) => errors.push(record.error);
    const result = await call({ wrong }, { onResponse });
    expect(errors).toMatchObject([{ message: expect.stringContaining(error) as string }]);
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('Internal server error') as string }],
    });
  },
);

const bytesOf = (produces: string, next: () => AsyncIterable<Uint8Array> | Blob) =>
  t.procedure.meta({ openapi: { method: 'GET', path: '/bytes', produces }, ...described }).query(next);

it('bytes have the deadline of their call, and count as running until they are read', async () => {
  let closed = 0;
  const released = Promise.withResolvers<void>();
  const stuck = bytesOf('image/png', async function* stuck() {
    try {
      yield new Uint8Array(1);
      // Ignores its signal.
      await released.promise;
    } finally {
      closed += 1;
    }
  });
  const gateway = await serve({ stuck }, { maxInFlight: 2, callTimeoutMs: 500 });
  const responses = Array.from({ length: 5 }, () => send(gateway, 'stuck', {}, older));
  await expect.poll(gateway.callsInFlight, { interval: 5 }).toBe(2);
  const all = await Promise.all(responses);
  // The calls have ended, and their streams have not.
  expect([gateway.callsInFlight(), closed]).toEqual([0, 0]);
  const texts = all.map(({ text }) => text);
  expect(texts.filter((text) => text.includes('GATEWAY_TIMEOUT'))).toHaveLength(2);
  expect(texts.filter((text) => text.includes('limit of 2 concurrent calls'))).toHaveLength(3);
  released.resolve();
  await expect.poll(() => closed).toBe(2);
});

it('a stream of bytes whose next chunk never comes is closed at the deadline of its call', async () => {
  const onReturn = vi.fn(async () => ({ done: true as const, value: undefined }));
  const iterator = { next: () => new Promise<never>(() => {}), return: onReturn };
  const silent = bytesOf('image/png', () => ({ [Symbol.asyncIterator]: () => iterator }));
  const { content } = await call({ silent }, { callTimeoutMs: 50 });
  expect(content).toMatchObject([{ text: expect.stringContaining('GATEWAY_TIMEOUT') as string }]);
  await vi.waitFor(() => expect(onReturn).toHaveBeenCalledOnce());
});

it('no more of a large Blob is read than maxResponseSize', async () => {
  let read = 0;
  const count = new TransformStream<Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      read += chunk.byteLength;
      controller.enqueue(chunk);
    },
  });
  const blob = new Blob(Array.from({ length: 100 }, () => new Uint8Array(100_000)));
  const stream = blob.stream().pipeThrough(count);
  const large = bytesOf('image/png', () => Object.assign(blob, { stream: () => stream }));
  const { content } = await call({ large }, { maxResponseSize: 100_000 });
  expect(content).toMatchObject([{ text: expect.stringContaining('PAYLOAD_TOO_LARGE') as string }]);
  expect(read).toBeGreaterThan(100_000);
  expect(read).toBeLessThan(1_000_000);
});

it('an image of 11 MB keeps the process for less time than its Base64 by spread arguments', async () => {
  const bytes = new Uint8Array(11_000_000);
  const image = bytesOf('image/png', () => new Blob([bytes]));
  const gateway = await serve({ image }, { maxResponseSize: 20_000_000 });
  let before = process.cpuUsage();
  const request = requestOf('tools/call', { name: 'image' }, older);
  const response = await gateway.fetch('http://localhost/mcp', request);
  // Not the time, which other processes make longer.
  const used = process.cpuUsage(before).user;
  before = process.cpuUsage();
  let binary = '';
  for (let at = 0; at < bytes.length; at += 8192) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  expect(btoa(binary)).toHaveLength(14_666_668);
  expect(used).toBeLessThan(process.cpuUsage(before).user);
  await response.body?.cancel();
});

const octets = { mimeType: 'application/octet-stream', blob: 'AQI=' };
it.each<[what: string, output: () => unknown, resource: object]>([
  ['a Uint8Array', () => Uint8Array.of(1, 2), octets],
  ['a ReadableStream', () => ReadableStream.from([Uint8Array.of(1), Uint8Array.of(2)]), octets],
  ...['application/json', 'application/ld+json', 'application/xml', 'application/atom+xml', 'text/css'].map(
    (type): [string, () => Blob, object] => [
      `a Blob of the type ${type}`,
      () => new Blob(['{}'], { type }),
      { mimeType: type, text: '{}' },
    ],
  ),
])('%s without produces is a resource', async (_what, output, resource) => {
  const { content } = await call({ bytes: tool.query(output) });
  expect(content).toEqual([{ type: 'resource', resource: { uri: 'tool:bytes/0', ...resource } }]);
});

const maxResponseSize = 20_000;
/** The rest of a message: its envelope, names of members, an id and a token of 256 characters. */
const envelopeBytes = 2000;

it.each<[what: string, value: (size: number) => unknown, sent: number]>([
  ['an object', (size) => ({ d: 'a'.repeat(size) }), 2],
  ['an object of quotes', (size) => ({ d: '"'.repeat(size) }), 6],
  ['an object of two bytes per character', (size) => ({ d: 'é'.repeat(size) }), 4],
  ['a list of quotes', (size) => ['"'.repeat(size)], 4],
  ['a text', (size) => 'a'.repeat(size), 1],
  ['a text of quotes', (size) => '"'.repeat(size), 2],
])('maxResponseSize limits %s as it is sent, in each revision', async (what, value, sent) => {
  const output = what.startsWith('an object') ? z.object({ d: z.string() }) : z.any();
  const gateway = await serve(
    {
      query: tool
        .input(z.object({ size: z.int() }))
        .output(output)
        .query(({ input }) => value(input.size) as { d: string }),
      stream: tool.input(z.object({ size: z.int() })).subscription(async function* stream({ input }) {
        yield value(input.size);
      }),
      fail: tool.input(z.object({ size: z.int() })).query(({ input }) => {
        throw new TRPCError({ code: 'CONFLICT', message: JSON.stringify(value(input.size)) });
      }),
    },
    { maxResponseSize },
  );
  const longest = { id: 'i'.repeat(256), meta: { progressToken: 'p'.repeat(256) } };
  const most = Math.floor(maxResponseSize / sent);
  for (const revision of revisions) {
    const textOf = async (name: string, size: number) =>
      (await send(gateway, name, { size }, { ...longest, revision })).text;
    const [fits, exceeds] = await Promise.all([most - 100, most + 1].map((size) => textOf('query', size)));
    expect(fits).not.toContain('isError');
    expect(exceeds).toContain('PAYLOAD_TOO_LARGE');
    for (let size = most / 4; size < most * 8; size *= 1.3) {
      for (const name of ['query', 'stream', 'fail']) {
        for (const event of (await textOf(name, Math.floor(size))).split('\n\n')) {
          expect(Buffer.byteLength(event)).toBeLessThan(maxResponseSize + envelopeBytes);
        }
      }
    }
  }
});

it.each([
  [998, false],
  [999, true],
])(
  'with maxResponseSize: 1000, a text of %i characters and two quotes is too large: %s',
  async (size, isTooLarge) => {
    const text = tool.query(() => 'a'.repeat(size));
    const result = await call({ text }, { maxResponseSize: 1000 });
    expect('isError' in result).toBe(isTooLarge);
  },
);

it('a value of a subscription that is too large ends it if it is progress, and is not sent otherwise', async () => {
  const large = tool.subscription(async function* large() {
    yield 'a'.repeat(2000);
    yield 'end';
  });
  const options = { maxResponseSize: 1000 };
  const ended = await call({ large }, options, { progressToken: 1 });
  expect(ended).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('PAYLOAD_TOO_LARGE') as string }],
  });
  const whole = await call({ large }, options);
  expect(whole).toEqual({ content: [{ type: 'text', text: 'end' }] });
});

it('a result whose JSON is longer than a string can be is an error with that limit', async () => {
  const toJSON = () => {
    throw new RangeError('Invalid string length');
  };
  expect(await call({ large: tool.query(() => ({ toJSON })) })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('larger than 536870888 bytes') as string }],
  });
});

it('createGateway reports what REST and what tools refuse together, each problem on a line', async () => {
  const openapi = { method: 'GET', path: '/a' } as const;
  const starting = serve({
    operation: t.procedure
      .meta({ openapi })
      .output(z.map(z.string(), z.int()))
      .query(() => new Map()),
    add: tool.input(z.object({ tags: z.set(z.string()), size: z.bigint() })).mutation(() => 1),
  });
  await expect(starting).rejects.toThrow(
    /"operation".*is a map.*\n.*"add" cannot be a tool: .*"tags" is a set.*\n.*"add" cannot be a tool: .*"size" is a bigint/,
  );
});
