import { expect, it, vi } from 'vitest';
import { startService } from '../startService.ts';

const tooLarge =
  'The response is larger than 1000 bytes (maxResponseSize). The call has completed; request less data, such as a smaller page.';
const batchTooLarge =
  'The responses of this batch are larger than 1000 bytes in total (maxResponseSize). The call has completed; send fewer calls in a batch, or request smaller pages.';

/** The target of a batch of calls of one procedure, each with a response of that many bytes. */
const batchOf = (procedure: string, sizes: readonly number[]) =>
  `/trpc/${sizes.map(() => procedure).join()}?batch=1&input=${JSON.stringify(
    Object.fromEntries(sizes.map((bytes, index) => [index, { bytes }])),
  )}`;

/** The status of each result in a batch response. */
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
    const response = await send(batchOf(procedure, [400, 400, 400, 2, 2, 2, 2]));
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
  const largest = await send(batchOf('large', [400, 559]));
  expect([largest.status, (await largest.arrayBuffer()).byteLength]).toEqual([200, 1002]);
  const larger = await send(batchOf('large', [400, 560]));
  expect(statuses(await larger.json())).toEqual([200, 413]);
});

it('maxResponseSize limits each line of a JSON Lines response, and not all together', async () => {
  const { send, records } = await startService({ maxResponseSize: 1000 });
  const response = await send(batchOf('large', [900, 900, 2000, 900]), {
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
  [batchOf('late', [2, 1_000_000_000, 2]), 207],
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
