import { setTimeout as sleep } from 'node:timers/promises';
import { bearer } from 'trpc-gateway';
import { describe, expect, it, vi } from 'vitest';
import { startService, validKey, type Service, type ServiceOptions } from '../startService.ts';

// `callTimeoutMs` of the gateway and of a procedure, and `Grpc-Timeout`. Calls that must not end alone take 20 s.

const pending = vi.fn(() => new Promise<never>(() => {}));
const jsonl = { 'trpc-accept': 'application/jsonl' };
const within = (value: string) => ({ 'grpc-timeout': value });
const inputOf = (...ms: readonly (number | undefined)[]) =>
  encodeURIComponent(
    JSON.stringify(
      Object.fromEntries(ms.map((each, index) => [index, each === undefined ? undefined : { ms: each }])),
    ),
  );

interface Deadline {
  readonly options?: ServiceOptions;
  readonly procedure: string;
  readonly headers?: Record<string, string>;
  readonly message: string;
}

const deadlines: Readonly<Record<string, Deadline>> = {
  'callTimeoutMs of the gateway': { options: { callTimeoutMs: 100 }, procedure: 'slow', message: '100 ms. ' },
  'callTimeoutMs of a procedure': { procedure: 'hurried', message: '300 ms. ' },
  'Grpc-Timeout': { procedure: 'slow', headers: within('50m'), message: '50 ms (the client’s timeout). ' },
};

/** Sends a call of a procedure that takes 20 s. Returns the status and the text of the response. */
const protocols: Readonly<
  Record<string, (service: Service, deadline: Deadline) => Promise<readonly [status: number, text: string]>>
> = {
  REST: (service, { procedure, headers }) => sendTo(service, `/v1/${procedure}?ms=20000`, headers),
  tRPC: (service, { procedure, headers }) =>
    sendTo(service, `/trpc/${procedure}?input={"ms":20000}`, headers),
  'a batch': (service, { procedure, headers }) =>
    sendTo(service, `/trpc/list,${procedure}?batch=1&input=${inputOf(undefined, 20_000)}`, headers),
  'JSON lines': (service, { procedure, headers }) =>
    sendTo(service, `/trpc/list,${procedure}?batch=1&input=${inputOf(undefined, 20_000)}`, {
      ...headers,
      ...jsonl,
    }),
  'a WebSocket': async ({ dial }, { procedure }) => {
    const { call } = dial();
    const params = { path: procedure, input: { ms: 20_000 } };
    return [504, JSON.stringify(await call({ id: 1, method: 'query', params }))];
  },
};

async function sendTo({ send }: Service, target: string, headers: Record<string, string> = {}) {
  const response = await send(target, { headers });
  return [response.status, await response.text()] as const;
}

/** The status of a response whose other call succeeds. */
const statuses: Readonly<Record<string, number>> = { 'a batch': 207, 'JSON lines': 200 };

it.each(
  Object.keys(deadlines).flatMap((name) =>
    Object.keys(protocols)
      // Messages have no headers.
      .filter((protocol) => !(name === 'Grpc-Timeout' && protocol === 'a WebSocket'))
      .map((protocol) => [name, protocol] as const),
  ),
)(
  'a call that exceeds %s over %s gets 504 and its signal aborts, and no other call',
  async (name, protocol) => {
    const deadline = deadlines[name] as Deadline;
    const service = await startService(deadline.options);
    const { counters, gateway, records } = service;
    const [status, text] = (await protocols[protocol]?.(service, deadline)) ?? [];
    expect(status).toBe(statuses[protocol] ?? 504);
    expect(text).toContain(
      `The call timed out after ${deadline.message}Whether it had an effect is unknown.`,
    );
    expect(text).toContain('GATEWAY_TIMEOUT');
    expect(text).toMatch(protocol in statuses ? /"data":0|\[\[0\]/ : /timed out/);
    await vi.waitFor(() => expect(counters.aborted).toEqual(['GATEWAY_TIMEOUT']));
    expect(gateway.callsInFlight()).toBe(0);
    await vi.waitFor(() => expect(records.at(-1)).toMatchObject({ limit: 'call-timeout', error: undefined }));
  },
);

it.each<[what: string, procedure: string, callTimeoutMs: number, timeout: string, message: string]>([
  ['callTimeoutMs of the procedure before that of the gateway', 'hurried', 20_000, '', '300 ms. '],
  ['callTimeoutMs before Grpc-Timeout', 'slow', 50, '1H', '50 ms. '],
  ['callTimeoutMs before Grpc-Timeout', 'hurried', 20_000, '20S', '300 ms. '],
  ['Grpc-Timeout before callTimeoutMs', 'hurried', 20_000, '50000u', '50 ms (the client’s timeout). '],
])('%s: the shorter deadline applies', async (_what, procedure, callTimeoutMs, timeout, message) => {
  const service = await startService({ callTimeoutMs });
  const [, text] = await sendTo(service, `/v1/${procedure}?ms=20000`, timeout === '' ? {} : within(timeout));
  expect(text).toContain(`The call timed out after ${message}`);
});

it('callTimeoutMs of a procedure replaces a shorter one of the gateway, also beside a call that exceeds that', async () => {
  const service = await startService({ callTimeoutMs: 50 });
  expect(await sendTo(service, '/v1/hurried?ms=100')).toEqual([200, '100']);
  const [status, text] = await sendTo(service, `/trpc/hurried,slow?batch=1&input=${inputOf(100, 20_000)}`);
  expect([status, JSON.parse(text)]).toMatchObject([
    207,
    [{ result: { data: 100 } }, { error: { data: { httpStatus: 504 } } }],
  ]);
  expect(service.counters.aborted).toEqual(['GATEWAY_TIMEOUT']);
});

it('a Grpc-Timeout ends all calls of a batch, also one with its own callTimeoutMs', async () => {
  const target = `/trpc/hurried,stubborn?batch=1&input=${inputOf(20_000, 20_000)}`;
  const [, text] = await sendTo(await startService(), target, within('50m'));
  const messages = (JSON.parse(text) as { error: { message: string } }[]).map(({ error }) => error.message);
  expect(messages).toEqual(Array(2).fill(expect.stringContaining('50 ms (the client’s timeout)')));
});

it.each([
  ['/v1/stubborn?ms=20000', {}],
  [`/trpc/list,stubborn?batch=1&input=${inputOf(undefined, 20_000)}`, jsonl],
])(
  'a call of GET %s ends at callTimeoutMs, although its procedure ignores the signal',
  async (target, headers) => {
    const service = await startService({ callTimeoutMs: 100 });
    expect((await sendTo(service, target, headers))[1]).toContain('GATEWAY_TIMEOUT');
    expect(service.gateway.callsInFlight()).toBe(0);
  },
);

describe.each([
  ['authentication', { authentication: bearer({ verify: pending }) }],
  ['createContext', { createContext: pending }],
])('the duration of %s', (step, options) => {
  it.each(['/v1/list', '/v1/ticks', '/trpc/list', '/trpc/list,list?batch=1', '/trpc/%6cist'])(
    `GET %s is answered with 504 if ${step} exceeds callTimeoutMs, and counts as a call in flight until then`,
    async (target) => {
      const { send, records, gateway } = await startService({ callTimeoutMs: 150, ...options });
      const response = send(target);
      await vi.waitFor(() => expect(gateway.callsInFlight()).toBe(1));
      expect((await response).status).toBe(504);
      expect(gateway.callsInFlight()).toBe(0);
      expect(records).toMatchObject([{ status: 504, limit: 'call-timeout', error: undefined }]);
    },
  );
});

it('a WebSocket upgrade is answered with 504 if verify exceeds callTimeoutMs', async () => {
  const { dial } = await startService({ callTimeoutMs: 100, authentication: bearer({ verify: pending }) });
  expect(await dial().status).toBe(504);
});

it('a createContext that exceeds the Grpc-Timeout is answered with 504', async () => {
  const service = await startService({ createContext: pending });
  expect((await sendTo(service, '/v1/list', within('50m')))[0]).toBe(504);
});

it.each(['/v1/slow?ms=280', '/trpc/slow?input={"ms":280}', '/trpc/sl%6fw?input={"ms":280}'])(
  'callTimeoutMs covers createContext and the procedure together: GET %s is answered with 504',
  async (target) => {
    const createContext = () => sleep(280, {});
    expect((await sendTo(await startService({ callTimeoutMs: 400, createContext }), target))[0]).toBe(504);
  },
);

it.each<[name: string, options: ServiceOptions, headers: Record<string, string>]>([
  ['callTimeoutMs', { callTimeoutMs: 100 }, {}],
  ['Grpc-Timeout', {}, within('100m')],
])('streams and subscriptions that have started continue after %s', async (_name, options, headers) => {
  const service = await startService(options);
  expect(await sendTo(service, '/v1/drip', headers)).toEqual([200, '.....']);
  for (const target of ['/v1/ticks', '/trpc/ticks']) {
    const [, text] = await sendTo(service, target, { ...headers, accept: 'text/event-stream' });
    expect(text).toContain('data: 5\n');
  }
});

it('a call that exceeds callTimeoutMs does not end the other streams of its JSON lines', async () => {
  const service = await startService({ callTimeoutMs: 100 });
  const target = `/trpc/slow,count?batch=1&input=${inputOf(20_000, 400)}`;
  const [, text] = await sendTo(service, target, jsonl);
  expect(service.counters.aborted).toEqual(['GATEWAY_TIMEOUT']);
  expect(text).toContain('"error"');
  expect(text).toContain('[[350]]');
});

it('a stream that a procedure returns after the 504 of its call is closed', async () => {
  const service = await startService({ callTimeoutMs: 100 });
  expect((await sendTo(service, '/v1/late-drip?ms=300'))[0]).toBe(504);
  await vi.waitFor(() => expect(service.counters.discarded).toBe(1));
});

it('a call of JSON lines counts towards maxInFlight until it ends', async () => {
  const { send } = await startService({ maxInFlight: 1 });
  const response = await send(`/trpc/stubborn?batch=1&input=${inputOf(3000)}`, { headers: jsonl });
  expect((await send('/trpc/list?batch=1', { headers: jsonl })).status).toBe(503);
  await response.body?.cancel();
});

it.each(['/v1/late-ticks?ms=300', '/trpc/lateTicks?input={"ms":300}'])(
  'GET %s counts as a call in flight until its subscription starts',
  async (target) => {
    const { send, gateway } = await startService();
    const opening = send(target, { headers: { accept: 'text/event-stream' } });
    await vi.waitFor(() => expect(gateway.callsInFlight()).toBe(1));
    const response = await opening;
    await vi.waitFor(() => expect(gateway.callsInFlight()).toBe(0));
    await response.body?.cancel();
  },
);

it('a timeout is reported once for each call of a batch, also if the calls throw when their signals abort', async () => {
  const reported: string[] = [];
  const { send, records, counters } = await startService({
    callTimeoutMs: 100,
    trpc: { onError: ({ error }) => void reported.push(error.code) },
  });
  const response = await send(`/trpc/slow,slow?batch=1&input=${inputOf(20_000, 20_000)}`);
  expect(response.status).toBe(504);
  await vi.waitFor(() => expect(counters.aborted).toHaveLength(2));
  await sleep(20);
  expect(reported).toEqual(['GATEWAY_TIMEOUT', 'GATEWAY_TIMEOUT']);
  expect(records).toMatchObject([{ error: undefined }]);
});

it.each(['/v1/write', '/trpc/write'])(
  'POST %s with a malformed Grpc-Timeout is rejected with 400, or with 401 for an invalid credential, and runs nothing',
  async (target) => {
    const { post, counters } = await startService();
    const response = await post(target, { value: 1 }, within('5s'));
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining('Grpc-Timeout: must be'),
    ]);
    const headers = { ...within('soon'), authorization: `${validKey}-not` };
    expect((await post(target, { value: 1 }, headers)).status).toBe(401);
    expect(counters.written).toBe(0);
  },
);
