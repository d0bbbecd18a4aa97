import { type ErrorFormat, problemDetails } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC, TRPCError } from '@trpc/server';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { openSocket } from '../socketClient.ts';
import { startService } from '../startService.ts';
import { startShape } from '../startShape.ts';

const tooLarge =
  'The response is larger than 1000 bytes (maxResponseSize). The call has completed; request less data, such as a smaller page.';
const batchTooLarge =
  'The responses of this batch are larger than 1000 bytes in total (maxResponseSize). The call has completed; send fewer calls in a batch, or request smaller pages.';

type Call = readonly [path: string, input: unknown];

const batchOf = (calls: readonly Call[]) =>
  `/trpc/${calls.map(([path]) => path).join()}?batch=1&input=${JSON.stringify(
    Object.fromEntries(calls.map(([, input], index) => [index, input])),
  )}`;
/** The target of a batch of calls of one procedure, each with a response of that many bytes. */
const sizesOf = (path: string, sizes: readonly number[]) =>
  batchOf(sizes.map((bytes): Call => [path, { bytes }]));

const statuses = (responses: unknown) =>
  (responses as { error?: { data: { httpStatus: number } } }[]).map(
    ({ error }) => error?.data.httpStatus ?? 200,
  );

it('maxResponseSize is 16 MiB by default: GET answers 200 up to it and 413 beyond', async () => {
  const { send } = await startService();
  expect((await (await send('/v1/large?bytes=16777216')).arrayBuffer()).byteLength).toBe(16_777_216);
  expect((await send('/v1/large?bytes=16777217')).status).toBe(413);
});

it.each(['/trpc/large', '/trpc/l%61rge'])(
  'GET %s over maxResponseSize is answered with 413 and the path of the procedure',
  async (target) => {
    const onError = vi.fn();
    const { send, records } = await startService({
      maxResponseSize: 1000,
      trpc: { onError },
    });
    const received = await send(`${target}?input={"bytes":1001}`);
    expect([received.status, await received.json()]).toMatchObject([
      413,
      { error: { message: tooLarge, data: { code: 'PAYLOAD_TOO_LARGE', path: 'large' } } },
    ]);
    expect(records).toMatchObject([{ status: 413, limit: 'response-bytes', error: undefined }]);
    expect(onError).toHaveBeenCalledTimes(1);
  },
);

it('maxResponseSize counts bytes, not characters', async () => {
  const { post } = await startService({ maxResponseSize: 1000 });
  const echo = async (text: string) => (await post('/v1/echo', { text })).status;
  expect(await echo('ü'.repeat(499))).toBe(200);
  expect(await echo('ü'.repeat(500))).toBe(413);
});

it.each(['late', 'l%61te'])(
  'maxResponseSize counts the results of a batch of %s together: those after the first that does not fit are 413 and not serialized',
  async (procedure) => {
    const { send, records, counters } = await startService({ maxResponseSize: 1000 });
    const response = await send(sizesOf(procedure, [400, 400, 400, 2, 2, 2, 2]));
    const responses = (await response.json()) as unknown[];
    expect(response.status).toBe(207);
    expect(statuses(responses)).toEqual([200, 200, 413, 413, 413, 413, 413]);
    expect(responses[3]).toMatchObject({ error: { message: batchTooLarge, data: { path: 'late' } } });
    expect(records).toMatchObject([{ status: 207, limit: 'response-bytes', error: undefined }]);
    expect(counters.serialized).toBe(3);
  },
);

it('the results of a batch may have maxResponseSize together, and not one byte more', async () => {
  const { send } = await startService({ maxResponseSize: 1000 });
  // The comma and the last bracket of a batch do not count.
  const largest = await send(sizesOf('large', [400, 559]));
  expect([largest.status, (await largest.arrayBuffer()).byteLength]).toEqual([200, 1002]);
  const larger = await send(sizesOf('large', [400, 560]));
  expect(statuses(await larger.json())).toEqual([200, 413]);
});

it('maxResponseSize limits each line of a JSON Lines response, and not all together', async () => {
  const { send, records } = await startService({ maxResponseSize: 1000 });
  const response = await send(sizesOf('large', [900, 900, 2000, 900]), {
    headers: { 'trpc-accept': 'application/jsonl' },
  });
  const text = await response.text();
  expect(response.status).toBe(200);
  expect(text.match(/x{898}/g)).toHaveLength(3);
  expect(text).toContain(tooLarge);
  expect(text).not.toMatch(/x{899}/);
  await vi.waitFor(() => expect(records).toMatchObject([{ limit: 'response-bytes', error: undefined }]));
});

it.each([
  ['/v1/large-ticks', 'event: error\ndata: {"code":"PAYLOAD_TOO_LARGE"'],
  ['/trpc/largeTicks', 'event: serialized-error\ndata: {'],
])('the event stream of GET %s ends with an error at an event over maxResponseSize', async (target, last) => {
  const { send, records } = await startService({ maxResponseSize: 1000 });
  const text = await (await send(target)).text();
  expect(text).toContain('data: "small"\n');
  expect(text).toContain(last);
  expect(text).toContain(tooLarge);
  expect(text).not.toContain('xxx');
  await vi.waitFor(() => expect(records).toMatchObject([{ limit: 'response-bytes', error: undefined }]));
});

it.each([
  ['/v1/late?bytes=1000000000', 413],
  ['/trpc/late?input={"bytes":1000000000}', 413],
  ['/trpc/l%61te?input={"bytes":1000000000}', 413],
  [sizesOf('late', [2, 1_000_000_000, 2]), 207],
])(
  'GET %s, whose JSON is longer than a string can be, is answered with %i if maxResponseSize is Infinity',
  async (target, status) => {
    const { send, records } = await startService({ maxResponseSize: Infinity });
    const response = await send(target);
    expect(response.status).toBe(status);
    expect(await response.text()).toContain('larger than 536870888 bytes');
    expect(records).toMatchObject([{ limit: 'response-bytes', error: undefined }]);
  },
);

it('maxResponseSize does not limit streams of bytes and routes', async () => {
  const { send } = await startService({ maxResponseSize: 1 });
  expect(await (await send('/v1/drip')).text()).toBe('.....');
  expect(await (await send('/page')).text()).toBe('page');
});

const maxResponseSize = 5000;
const errorTooLarge = 'The error of this call is larger than 5000 bytes (maxResponseSize).';

const t = initTRPC.meta<GatewayMeta>().create({
  // Adds to every error as many bytes as the code of its cause says, also to those of the gateway.
  errorFormatter: ({ shape, error }) => ({
    ...shape,
    text: 'x'.repeat(Number(error.cause?.message ?? 0)),
  }),
});
const throwError = (bytes: number): never => {
  throw new TRPCError({ code: 'CONFLICT', message: 'Taken.', cause: new Error(String(bytes)) });
};
const bytes = t.procedure.input(z.int());
const router = t.router({
  throwError: bytes.query(({ input }) => throwError(input)),
  restFail: t.procedure
    .meta({ openapi: { method: 'GET', path: '/failing' } })
    .input(z.object({ bytes: z.int() }))
    .output(z.void())
    .query(({ input }) => throwError(input.bytes)),
  text: bytes.query(({ input }) => 'x'.repeat(input)),
  events: bytes.subscription(async function* ({ input }) {
    yield 1;
    throwError(input);
  }),
  later: bytes.query(({ input }) => ({ value: Promise.resolve().then(() => throwError(input)) })),
});

async function start() {
  const errorFormat: ErrorFormat = {
    ...problemDetails,
    body: (error) => ({
      ...problemDetails.body(error),
      text: 'x'.repeat(Number(error.error?.cause?.message ?? 0)),
    }),
  };
  const { origin, records, server } = await startShape(router, { errorFormat, maxResponseSize });
  const get = async (target: string, headers: Record<string, string> = {}) => {
    const response = await server.fetch(`${origin}${target}`, { headers });
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      text: await response.text(),
    };
  };
  return { get, records, server };
}

it.each<[where: string, target: string, type: string, body: object]>([
  [
    'over REST is a 413 in the format of errors',
    '/v1/failing?bytes=',
    'application/problem+json',
    {
      type: 'about:blank',
      title: 'Payload Too Large',
      status: 413,
      code: 'PAYLOAD_TOO_LARGE',
      detail: errorTooLarge,
      text: '',
    },
  ],
  [
    'over tRPC is a 413 in tRPC’s own shape',
    '/trpc/throwError?input=',
    'application/json',
    { error: { message: errorTooLarge, data: { code: 'PAYLOAD_TOO_LARGE', httpStatus: 413 } } },
  ],
])('an error that is larger than maxResponseSize %s', async (_where, target, contentType, body) => {
  const { get, records } = await start();
  expect(await get(`${target}4700`)).toMatchObject({ status: 409 });
  const { status, type, text } = await get(`${target}5001`);
  expect([status, type, JSON.parse(text)]).toMatchObject([413, contentType, body]);
  expect(records.map(({ limit }) => limit)).toEqual([undefined, 'response-bytes']);
});

it('the errors and outputs of a batch count together; an error of up to 1,000 bytes is sent in any case', async () => {
  const { get, records } = await start();
  const calls: readonly Call[] = [
    ['throwError', 2000],
    ['text', 1000],
    ['throwError', 2000],
    ['throwError', 100],
    ['text', 10],
    ['throwError', 2000],
  ];
  const { status, text } = await get(batchOf(calls));
  expect([status, statuses(JSON.parse(text))]).toEqual([207, [409, 200, 413, 409, 200, 413]]);
  expect(Buffer.byteLength(text)).toBeLessThan(maxResponseSize + 3 * 1000);
  expect(records).toMatchObject([{ limit: 'response-bytes' }]);
});

it('each line of JSON lines with an error counts alone', async () => {
  const { get } = await start();
  const calls = [4000, 4000, 5001].map((size): Call => ['throwError', size]);
  const { text } = await get(batchOf([...calls, ['later', 4000], ['later', 5001]]), {
    'trpc-accept': 'application/jsonl',
  });
  const lengths = text.split('\n').map((line) => line.length);
  expect(lengths.filter((length) => length > 4000)).toHaveLength(3);
  expect(Math.max(...lengths)).toBeLessThan(maxResponseSize);
  expect(text.match(/PAYLOAD_TOO_LARGE/g)).toHaveLength(2);
});

it('the error that ends server-sent events is replaced if it is larger than maxResponseSize', async () => {
  const { get } = await start();
  expect((await get('/trpc/events?input=4000')).text).toMatch(/serialized-error\n.*x{4000}/);
  const { text } = await get('/trpc/events?input=5001');
  expect(text).toContain(errorTooLarge);
  expect(text.length).toBeLessThan(1000);
});

it('the results of one WebSocket message count together, those of several messages and events do not', async () => {
  const { server } = await start();
  const client = openSocket(server);
  const send = async (...calls: readonly Call[]) => {
    const messages = calls.map(([path, input], id) => ({ id, method: 'query', params: { path, input } }));
    const results = (await client.exchange(messages, calls.length)) as { readonly id: number }[];
    return statuses(results.toSorted((one, other) => one.id - other.id));
  };
  const together = await send(
    ['throwError', 2000],
    ['text', 1000],
    ['text', 2000],
    ['throwError', 2000],
    ['throwError', 100],
  );
  expect(together).toEqual([409, 200, 413, 413, 409]);
  expect(await send(['throwError', 4000])).toEqual([409]);
  expect(await send(['throwError', 5001])).toEqual([413]);
});
