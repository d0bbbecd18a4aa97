import { type ErrorFormat, problemDetails } from 'trpc-gateway';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC, TRPCError } from '@trpc/server';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { needs } from '../servers.ts';
import { socketClient } from '../socketClient.ts';
import { startShape } from '../startShape.ts';

const maxResponseSize = 5000;
const tooLarge = 'The error of this call is larger than 5000 bytes (maxResponseSize).';

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
  const batch = (calls: readonly (readonly [string, number])[], headers?: Record<string, string>) =>
    get(
      `/trpc/${calls.map(([name]) => name).join()}?batch=1&input=${JSON.stringify(
        Object.fromEntries(calls.map(([, size], index) => [index, size])),
      )}`,
      headers,
    );
  return { batch, get, records, server };
}

const statuses = (text: string) =>
  (JSON.parse(text) as { error?: { data: { httpStatus: number } } }[]).map(
    ({ error }) => error?.data.httpStatus ?? 200,
  );

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
      detail: tooLarge,
      text: '',
    },
  ],
  [
    'over tRPC is a 413 in tRPC’s own shape',
    '/trpc/throwError?input=',
    'application/json',
    { error: { message: tooLarge, data: { code: 'PAYLOAD_TOO_LARGE', httpStatus: 413 } } },
  ],
])('an error that is larger than maxResponseSize %s', async (_where, target, contentType, body) => {
  const { get, records } = await start();
  expect(await get(`${target}4700`)).toMatchObject({ status: 409 });
  const { status, type, text } = await get(`${target}5001`);
  expect([status, type, JSON.parse(text)]).toMatchObject([413, contentType, body]);
  expect(records.map(({ limit }) => limit)).toEqual([undefined, 'response-bytes']);
});

it('the errors and outputs of a batch count together; an error of up to 1,000 bytes is sent in any case', async () => {
  const { batch, records } = await start();
  const { status, text } = await batch([
    ['throwError', 2000],
    ['text', 1000],
    ['throwError', 2000],
    ['throwError', 100],
    ['text', 10],
    ['throwError', 2000],
  ]);
  expect([status, statuses(text)]).toEqual([207, [409, 200, 413, 409, 200, 413]]);
  expect(Buffer.byteLength(text)).toBeLessThan(maxResponseSize + 3 * 1000);
  expect(records).toMatchObject([{ limit: 'response-bytes' }]);
});

it('each line of JSON lines with an error counts alone', async () => {
  const { batch } = await start();
  const calls = [4000, 4000, 5001].map((size) => ['throwError', size] as const);
  const { text } = await batch([...calls, ['later', 4000], ['later', 5001]], {
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
  expect(text).toContain(tooLarge);
  expect(text.length).toBeLessThan(1000);
});

it('the results of one WebSocket message count together, those of several messages and events do not', async () => {
  needs('WebSockets');
  const { server } = await start();
  const client = socketClient(server);
  onTestFinished(() => client.terminate());
  type Received = {
    readonly id: number;
    readonly error?: { readonly data: { readonly httpStatus: number } };
  };
  const send = async (...calls: readonly (readonly [string, number])[]) => {
    const messages = calls.map(([path, input], id) => ({ id, method: 'query', params: { path, input } }));
    const received = await client.exchange(JSON.stringify(messages), calls.length);
    return received
      .map((data) => JSON.parse(String(data)) as Received)
      .toSorted((one, other) => one.id - other.id)
      .map(({ error }) => error?.data.httpStatus ?? 200);
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
