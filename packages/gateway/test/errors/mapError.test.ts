import { problemDetails } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import { declareErrors, type GatewayMeta } from 'trpc-gateway/procedures';
import { type AnyTRPCRouter, initTRPC, TRPCError } from '@trpc/server';
import { expect, it, vi } from 'vitest';
import { z } from 'zod';
import { has } from '../servers.ts';
import { messagesUntilError } from '../socketClient.ts';
import { startShape } from '../startShape.ts';
import { failingProcedures } from './failingProcedures.ts';

class AppError extends Error {
  readonly kind: Kind;
  constructor(kind: Kind) {
    super(`row 7 is ${kind}`);
    this.kind = kind;
  }
}

const errors = declareErrors({
  LOCKED: { status: 423, message: 'The document is locked.', data: z.object({ by: z.string() }) },
  BUSY: { status: 503 },
});
const sent = {
  gone: () => new TRPCError({ code: 'NOT_FOUND', message: 'The document is gone.' }),
  busy: () => errors.BUSY({ cause: Object.assign(new Error('x'), { retryAfterSeconds: 7 }) }),
  locked: () => errors.LOCKED({ data: { by: 'Ada' } }),
};
type Kind = keyof typeof sent;
const kinds = Object.keys(sent) as Kind[];

const mapError = ({ cause }: TRPCError): TRPCError | undefined =>
  cause instanceof AppError ? sent[cause.kind]() : undefined;

interface Setup {
  readonly mapError?: (error: TRPCError) => TRPCError | undefined;
  readonly thrown?: (kind: Kind) => Error;
  readonly isDeclared?: boolean;
  readonly options?: object;
}

async function start({ thrown = (kind) => new AppError(kind), isDeclared = false, ...setup }: Setup) {
  const t = initTRPC
    .meta<GatewayMeta>()
    .context<object>()
    .create({ isDev: false, errorFormatter: ({ shape }) => ({ ...shape, data: { ...shape.data, v: 1 } }) });
  // The clients of this test have no types of errors.
  const declaring = t.procedure.errors(errors) as unknown as typeof t.procedure;
  const base = isDeclared ? declaring : t.procedure;
  const failing = kinds.map((kind) => [kind, failingProcedures(base, () => thrown(kind))]);
  const router: AnyTRPCRouter = t.router({
    ...(Object.fromEntries(failing) as Record<Kind, ReturnType<typeof failingProcedures>>),
    ok: t.procedure
      .meta({ openapi: true })
      .input(z.object({ id: z.string() }))
      .query(({ input }) => input.id),
  });
  const reported: TRPCError[] = [];
  const context: { error?: Error } = {};
  const { origin, records, server } = await startShape(router, {
    createContext: () => {
      if (context.error) throw context.error;
      return {};
    },
    mcp: mcp(),
    onError: ({ error }) => void reported.push(error),
    ...(setup.mapError && { mapError: setup.mapError }),
    ...setup.options,
  });
  const get = async (target: string, init: RequestInit = {}) => {
    const response = await server.fetch(`${origin}/${target}`, init);
    return {
      status: response.status,
      retryAfter: response.headers.get('retry-after'),
      text: sorted(await response.text()),
    };
  };
  const overSocket = (method: string, path: string) => messagesUntilError(server, method, path);
  return { context, get, overSocket, records, reported };
}

/** Sorts JSON lines after the first, whose order depends on timing. */
const sorted = (text: string) => text.split('\n').toSorted().join('\n');

const json = { 'content-type': 'application/json' };
const lines = { 'trpc-accept': 'application/jsonl' };
/** Requests whose responses have the error of a kind, over every format of every protocol. */
const requests = (kind: Kind): readonly (readonly [target: string, init?: RequestInit])[] => [
  [`v1/${kind}/query`],
  [`v1/${kind}/mutation`, { method: 'POST', body: '{}', headers: json }],
  [`v1/${kind}/events`],
  [`v1/${kind}/noEvents`],
  [`trpc/${kind}.query`],
  [`trpc/${kind}.middleware`],
  [`trpc/${kind}.query,gone.query?batch=1`],
  [`trpc/${kind}.query,ok?batch=1&input=%7B%221%22%3A%7B%22id%22%3A%22a%22%7D%7D`],
  [`trpc/${kind}.query,ok?batch=1`, { headers: lines }],
  [`trpc/${kind}.events`],
  [`trpc/${kind}.noEvents`],
  [`trpc/${kind}.observable`],
];
const socketCalls = (kind: Kind) =>
  ['query', 'middleware', 'events', 'noEvents', 'observable'].map(
    (name, index) => [index < 2 ? 'query' : 'subscription', `${kind}.${name}`] as const,
  );

it.each(kinds)(
  'mapError sends the error "%s" over every protocol as if the procedure had thrown and declared it',
  async (kind) => {
    const mapped = await start({ mapError });
    const direct = await start({ thrown: (each) => sent[each](), isDeclared: true });
    for (const [target, init] of requests(kind)) {
      const response = await mapped.get(target, init);
      expect(response.text).not.toContain('row 7');
      expect(response).toEqual(await direct.get(target, init));
    }
    if (!has('WebSockets')) return;
    for (const [method, path] of socketCalls(kind)) {
      const text = await mapped.overSocket(method, path);
      expect(text).toContain('"error"');
      expect(text).toBe(await direct.overSocket(method, path));
    }
  },
);

it('mapError maps the rejection of a promise in an output, also to a declared error', async () => {
  const { get } = await start({ mapError });
  const { text } = await get('trpc/locked.promise?batch=1', { headers: lines });
  expect(text).toContain(
    '"data":{"code":"LOCKED","httpStatus":423,"path":"locked.promise","data":{"by":"Ada"}}',
  );
});

it('mapError maps the error of createContext over every protocol', async () => {
  const { context, get, overSocket } = await start({ mapError });
  context.error = new AppError('gone');
  const message = 'The document is gone.';
  for (const target of ['v1/ok?id=a', 'trpc/ok', 'trpc/gone.events', 'trpc/ok,ok?batch=1']) {
    expect((await get(target)).text).toContain(message);
  }
  expect(await get('v1/ok?id=a')).toMatchObject({ status: 404 });
  expect(await get('trpc/ok,ok?batch=1')).toMatchObject({ status: 404 });
  const received = has('WebSockets') ? await overSocket('query', 'ok') : message;
  expect(received).toContain(message);
});

it('mapError is not called for unknown paths, unsupported methods, rejected requests and limits', async () => {
  const spy = vi.fn(() => undefined);
  const policies = [{ admit: () => new TRPCError({ code: 'FORBIDDEN', message: 'Closed.' }) }];
  const { get } = await start({ mapError: spy });
  const closed = await start({ mapError: spy, options: { policies } });
  const small = await start({ mapError: spy, options: { maxResponseSize: 1000 } });
  for (const target of ['v1/unknown', 'v1/ok', 'trpc/unknown', 'trpc'])
    await get(target, { method: 'DELETE' });
  await get('trpc/unknown,unknown?batch=1');
  await closed.get('v1/ok?id=a');
  expect(await small.get(`v1/ok?id=${'a'.repeat(1000)}`)).toMatchObject({ status: 413 });
  expect(spy).not.toHaveBeenCalled();
  await get('v1/ok');
  expect(spy).toHaveBeenCalledOnce();
});

it.each([
  ['undefined', false, () => undefined],
  ['undefined', true, () => undefined],
  ['the error', true, (error: TRPCError) => error],
])(
  'an error for which mapError returns %s is sent as without mapError (maskUnexpectedErrors: %s)',
  async (_, maskUnexpectedErrors, keep) => {
    const options = { maskUnexpectedErrors };
    const kept = await start({ mapError: keep, options });
    const without = await start({ options });
    for (const [target, init] of requests('gone')) {
      expect(await kept.get(target, init)).toEqual(await without.get(target, init));
    }
  },
);

it.each([
  ['no message', { code: 'INTERNAL_SERVER_ERROR' }, undefined, 'Internal server error'],
  ['a message of its own', { code: 'INTERNAL_SERVER_ERROR' }, 'Try later.', 'Try later.'],
  ['no message and another code', { code: 'CONFLICT' }, undefined, 'row 7 is gone'],
] as const)(
  'an error that mapError returns with a cause and %s hides only a message that tRPC has copied into a 500',
  async (_what, { code }, message, sentMessage) => {
    const { get } = await start({
      mapError: ({ cause }) => new TRPCError({ code, cause, ...(message && { message }) }),
      options: { maskUnexpectedErrors: true },
    });
    expect(JSON.parse((await get('v1/gone/query')).text)).toMatchObject({ message: sentMessage });
    expect(JSON.parse((await get('trpc/gone.query')).text)).toMatchObject({
      error: { message: sentMessage },
    });
  },
);

it('an error that mapError returns keeps its private fields, also if it is returned again', async () => {
  class Detailed extends TRPCError {
    readonly #details = 'details';
    get details() {
      return this.#details;
    }
    describe() {
      return `more ${this.#details}`;
    }
  }
  const constant = new Detailed({ code: 'CONFLICT', message: 'Constant.' });
  const errorFormat = {
    ...problemDetails,
    body: ({ error }: { readonly error: TRPCError }) =>
      error instanceof Detailed ? [error.details, error.describe(), error.constructor.name] : ['?'],
  };
  const { get, reported } = await start({ mapError: () => constant, options: { errorFormat } });
  for (const target of ['v1/gone/query', 'v1/gone/query', 'v1/busy/query']) {
    expect(await get(target)).toMatchObject({ status: 409, text: '["details","more details","Detailed"]' });
  }
  expect(reported.map(({ cause }) => cause?.message)).toEqual([
    'row 7 is gone',
    'row 7 is gone',
    'row 7 is busy',
  ]);
});

it('onError receives the original error of a mapped one, onResponse and the log only that of a 5xx', async () => {
  const { get, overSocket, records, reported } = await start({ mapError });
  for (const [target, init] of requests('gone')) await get(target, init);
  if (has('WebSockets')) for (const [method, path] of socketCalls('gone')) await overSocket(method, path);
  expect(reported.length).toBeGreaterThan(12);
  expect(
    reported.filter(({ cause }) => !(cause instanceof AppError) && !(cause instanceof z.ZodError)),
  ).toEqual([]);
  expect(records.filter(({ error }) => error !== undefined)).toEqual([]);
  for (const target of ['v1/busy/query', 'trpc/busy.query']) {
    await get(target);
    expect(records.at(-1)?.error).toMatchObject({ cause: { message: 'row 7 is busy' } });
  }
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  const silent = await start({ mapError, options: { onError: undefined, onResponse: undefined } });
  for (const [target, init] of requests('gone')) await silent.get(target, init);
  expect(log).not.toHaveBeenCalled();
  await silent.get('trpc/busy.query,gone.query?batch=1');
  expect(log).toHaveBeenCalledOnce();
  expect(log.mock.calls[0]?.[0]).toMatch(/procedure busy\.query.*row 7 is busy/);
  log.mockClear();
});

it.each([
  [
    'throws',
    () => {
      throw new RangeError('no such kind');
    },
    /no such kind/,
  ],
  [
    'returns something else',
    () => new RangeError('a plain error') as never,
    /returned an object\. Return a TRPCError/,
  ],
])(
  'if mapError %s, clients receive a 500, and both errors are reported as its cause',
  async (_, broken, text) => {
    const { get, overSocket, records, reported } = await start({ mapError: broken });
    const both = (error: unknown) => {
      const { errors: causes } = (error as { readonly cause: AggregateError }).cause;
      const [own, original] = causes as readonly Error[];
      return text.test(String(own)) && original instanceof TRPCError;
    };
    for (const target of [
      'v1/gone/query',
      'v1/gone/events',
      'trpc/gone.query',
      'trpc/ok',
      'trpc/gone.events',
    ]) {
      reported.length = 0;
      expect((await get(target)).text).toContain('INTERNAL_SERVER_ERROR');
      expect(reported.at(-1)).toSatisfy(both);
      expect(records.at(-1)?.error).toSatisfy(both);
    }
    if (!has('WebSockets')) return;
    expect(await overSocket('query', 'gone.query')).toContain('"httpStatus":500');
    expect(records.at(-1)?.error).toSatisfy(both);
  },
);

it('idempotency keys store the response of a mapped 404, and release the key of a mapped 503', async () => {
  const thrown = vi.fn((kind: Kind) => new AppError(kind));
  const { get } = await start({ mapError, thrown });
  const post = (kind: Kind) =>
    get(`v1/${kind}/mutation`, { method: 'POST', body: '{}', headers: { ...json, 'idempotency-key': kind } });
  expect(await post('gone')).toMatchObject({ status: 404 });
  expect(await post('gone')).toMatchObject({ status: 404 });
  expect(thrown).toHaveBeenCalledOnce();
  expect(await post('busy')).toMatchObject({ status: 503, retryAfter: '7' });
  expect(await post('busy')).toMatchObject({ status: 503 });
  expect(thrown).toHaveBeenCalledTimes(3);
});

it('a constant error is mapped by each gateway on its own, each time that it is thrown', async () => {
  const constant = new TRPCError({ code: 'CONFLICT', message: 'Constant.' });
  let count = 0;
  const setup = { thrown: () => constant };
  const mapped = await start({
    ...setup,
    mapError: () => {
      count += 1;
      return count === 3 ? undefined : new TRPCError({ code: 'NOT_FOUND', message: `Time ${count}.` });
    },
  });
  const other = await start(setup);
  expect((await mapped.get('v1/gone/query')).text).toContain('Time 1.');
  expect((await mapped.get('trpc/gone.query')).text).toContain('Time 2.');
  expect((await mapped.get('v1/gone/query')).text).toContain('Constant.');
  expect((await mapped.get('v1/gone/query')).text).toContain('Time 4.');
  expect((await other.get('v1/gone/query')).text).toContain('Constant.');
});
