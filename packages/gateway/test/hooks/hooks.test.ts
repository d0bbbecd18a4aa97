import {
  createGateway,
  custom,
  memoryState,
  problemDetails,
  type CallTelemetry,
  type GatewayOptions,
  type RequestRecord,
  type RequestTelemetry,
} from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import { declareErrors, type GatewayMeta, type RestMeta, type Spool } from 'trpc-gateway/procedures';
import { initTRPC, type AnyTRPCRouter } from '@trpc/server';
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { adapterOfRun } from '../adapters.ts';
import type { Server } from '../listen.ts';
import { longForm, nodeServers } from '@petstore/testing/forms';
import { call } from '@petstore/testing/mcpMessages';
import { has, serve } from '../servers.ts';
import { callMessage, openSocket } from '../socketClient.ts';

// Every function of a service that the gateway calls, and every way in which one can fail.

type Options = GatewayOptions<AnyTRPCRouter, unknown>;
type AnyFunction = (...options: never[]) => unknown;

/** The names of the members of an object that are functions. */
type FunctionNames<Object, Prefix extends string = ''> = {
  [Name in keyof Object & string]-?: [Extract<NonNullable<Object[Name]>, AnyFunction>] extends [never]
    ? never
    : `${Prefix}${Name}`;
}[keyof Object & string];

/** The objects, or the items of the list, that an option can be. */
type Objects<Value> = Value extends AnyFunction | string
  ? never
  : Value extends readonly (infer Each)[]
    ? Objects<Each>
    : Value extends object
      ? Value
      : never;

/** Options whose functions are not those of a service: `router` and `mcp` are tRPC's and the gateway's own. */
type ObjectOptions = Omit<Options, 'router' | 'mcp' | 'routes'>;
type OptionHook =
  | FunctionNames<Omit<Options, 'router'>>
  | {
      [Name in keyof ObjectOptions]-?: FunctionNames<Objects<NonNullable<ObjectOptions[Name]>>, `${Name}.`>;
    }[keyof ObjectOptions];

/** Functions of a service. The types add those of a new option, so that it needs a row below. */
type HookName =
  | Exclude<OptionHook, `openapi.${string}`>
  | FunctionNames<RequestTelemetry, 'telemetry.request.'>
  | FunctionNames<CallTelemetry, 'telemetry.call.'>
  | FunctionNames<Awaited<ReturnType<Spool>>, 'spool.'>
  | `meta.${Extract<keyof RestMeta, 'produces' | 'headers'>}`
  | 'routes'
  | 'router.errorFormatter'
  | 'router.errors'
  | 'router.transformer.serialize'
  | 'router.transformer.deserialize';

const fail = (): never => {
  throw new Error('broken hook');
};

const failures = {
  throws: fail,
  'throws an object whose getters throw': () => {
    const getter = { enumerable: true, get: fail };
    const names = ['cause', 'code', 'message', 'name', 'stack', 'status', 'then'];
    throw Object.defineProperties({}, Object.fromEntries(names.map((name) => [name, getter])));
  },
  'rejects at once': async () => fail(),
  'rejects later': async () => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    fail();
  },
  // oxlint-disable-next-line unicorn/no-thenable -- it is what is tested
  'returns an object whose getter "then" throws': () => Object.defineProperty({}, 'then', { get: fail }),
  // oxlint-disable-next-line unicorn/no-thenable -- it is what is tested
  'returns an object whose "then" throws': () => ({ then: fail }),
  'returns a promise that never settles': () => new Promise(() => {}),
} satisfies Record<string, () => unknown>;
type FailureName = keyof typeof failures;
const never: FailureName = 'returns a promise that never settles';

/** A hook that works until a test lets it fail. */
class Switch {
  failure: (() => unknown) | undefined = undefined;
  calls = 0;

  // The functions of options have many types, and their results must be wrong here.
  readonly of = (work: (...options: never[]) => unknown): never =>
    ((...options: never[]) => {
      if (this.failure === undefined) return work(...options);
      this.calls += 1;
      return this.failure();
    }) as never;
}

const transformer = { serialize: (value: unknown) => value, deserialize: (value: unknown) => value };

function createRouter(names: HookName, { of }: Switch) {
  const wrap = <Work extends AnyFunction>(name: HookName, work: Work): Work =>
    name === names ? of(work) : work;
  const t = initTRPC
    .context<object>()
    .meta<GatewayMeta>()
    .create({
      ...(names === 'router.errorFormatter' && { errorFormatter: of(({ shape }) => shape) }),
      ...(names.startsWith('router.transformer') && {
        transformer: {
          serialize: wrap('router.transformer.serialize', transformer.serialize),
          deserialize: wrap('router.transformer.deserialize', transformer.deserialize),
        },
      }),
    });
  const query = (path: `/${string}`, openapi: RestMeta = {}) =>
    t.procedure.meta({ openapi: { method: 'GET', path, ...openapi } });
  return t.router({
    read: query('/read')
      .meta({ mcp: { description: 'Reads.' }, ...(names === 'authentication.scopes' && { scopes: ['all'] }) })
      .output(z.string())
      .query(() => 'seen'),
    find: query('/find')
      .input(z.object({ name: z.string() }))
      .output(z.string())
      .query(({ input }) => input.name),
    crash: (names === 'router.errors' ? query('/crash').errors(of(({ shape }) => shape)) : query('/crash'))
      .output(z.string())
      .query(() => fail()),
    text: query('/text', { produces: { 'text/plain': wrap('meta.produces', (text: string) => text) } }).query(
      () => 'text',
    ),
    headed: query('/headed', {
      headers: {
        'X-Head': { description: 'A head.', value: wrap('meta.headers', (text: string) => text) },
      },
    })
      .output(z.string())
      .query(() => 'headed'),
    /** Declares an error, which the document describes. */
    sold: query('/sold')
      .errors(declareErrors({ SOLD_OUT: { status: 409, message: 'None is left.' } }))
      .output(z.string())
      .query(() => 'sold'),
    /** Without metadata, for the option `openapi`. */
    bare: t.procedure.query(() => 'bare'),
    write: t.procedure
      .meta({ openapi: { method: 'POST', path: '/write' }, idempotencyKey: 'optional' })
      .input(z.object({ fails: z.boolean() }))
      .output(z.string())
      .mutation(({ input }) => (input.fails ? fail() : 'written')),
    upload: t.procedure
      .meta({
        openapi: {
          method: 'POST',
          path: '/upload',
          contentTypes: ['multipart/form-data'],
          upload: { spool: true },
        },
      })
      .input(z.object({ file: z.file() }))
      .output(z.string())
      .mutation(({ input }) => input.file.name),
  });
}

const headers = { authorization: 'Key k' };
let keys = 0;

/** Sends a request, and returns `ok` or the status of its error. */
const requests = {
  rest: ({ get }) => get('/v1/read'),
  restError: ({ get }) => get('/v1/crash'),
  text: ({ get }) => get('/v1/text'),
  headed: ({ get }) => get('/v1/headed'),
  page: ({ get }) => get('/page'),
  document: ({ get }) => get('/openapi.json'),
  fromPage: ({ get }) => get('/v1/read', { headers: { ...headers, origin: 'https://shop.example' } }),
  write: ({ post }) => post('/v1/write', '{"fails":false}', { 'idempotency-key': `k${(keys += 1)}` }),
  writeError: ({ post }) => post('/v1/write', '{"fails":true}', { 'idempotency-key': `k${(keys += 1)}` }),
  upload: async ({ get }) => {
    const form = new FormData();
    form.set('file', new File(['text'], 'a.txt'));
    // As bytes: of a form that nobody reads to its end, `fetch` of Node 24 rejects a promise (undici 7).
    const encoded = new Response(form);
    const type = encoded.headers.get('content-type') ?? '';
    const body = await encoded.arrayBuffer();
    return get('/v1/upload', { method: 'POST', body, headers: { ...headers, 'content-type': type } });
  },
  trpc: ({ get }) => get('/trpc/read'),
  trpcInput: ({ get }) => get('/trpc/find?input=%7B%22name%22%3A%22a%22%7D'),
  trpcError: ({ get }) => get('/trpc/crash'),
  trpcWrite: ({ post }) => post('/trpc/write', '{"fails":false}'),
  batch: ({ get }) => get('/trpc/read,read?batch=1'),
  lines: async ({ server }) => {
    const url = `${server.origin}/trpc/read,read?batch=1`;
    try {
      const init = { headers: { ...headers, 'trpc-accept': 'application/jsonl' } };
      const response = await server.fetch(url, init);
      const text = await response.text();
      if (!response.ok) return response.status;
      return text.match(/"seen"/g)?.length === 2 ? 'ok' : statusIn(text);
    } catch {
      return 'cut';
    }
  },
  mcp: async ({ server }) => {
    const { message, status } = await call(server, 'read', {}, { headers });
    if (status !== 200) return status;
    return message?.error !== undefined || message?.result?.['isError'] === true ? 500 : 'ok';
  },
  socket: ({ server }) => callOnSocket(server, 'read'),
  socketError: ({ server }) => callOnSocket(server, 'crash'),
} satisfies Record<string, (client: Client) => Promise<Outcome>>;
type RequestName = keyof typeof requests;
/** `cut`: the body of the response ended with its connection. */
type Outcome = 'ok' | 'cut' | number;

interface Client {
  readonly server: Server;
  readonly get: (path: string, init?: RequestInit) => Promise<Outcome>;
  readonly post: (path: string, body: string, more?: Record<string, string>) => Promise<Outcome>;
}

function clientOf(server: Server): Client {
  const get: Client['get'] = async (path, init = { headers }) => {
    const response = await server.fetch(`${server.origin}${path}`, init);
    const text = await response.text();
    // No result of a hook is written as the text of an object.
    expect([text, ...response.headers.values()].join()).not.toMatch(/\[object|"then"/);
    return response.ok ? 'ok' : response.status;
  };
  const post: Client['post'] = (path, body, more) =>
    get(path, { method: 'POST', body, headers: { ...headers, 'content-type': 'application/json', ...more } });
  return { server, get, post };
}

async function callOnSocket(server: Server, path: string): Promise<Outcome> {
  const client = openSocket(server, '/trpc', headers);
  const response = client.call(callMessage(1, 'query', path));
  // An upgrade that is rejected has none.
  response.catch(() => {});
  const status = await client.status;
  if (status !== 101) return status;
  const text = JSON.stringify(await response);
  client.socket.terminate();
  return text.includes('"result"') ? 'ok' : statusIn(text);
}

const statusIn = (text: string) => Number(/"httpStatus":(\d+)/.exec(text)?.[1] ?? 0);

/** What requests get while the hook works. */
const usual = Object.fromEntries(
  Object.keys(requests).map((name) => [name, name.endsWith('Error') ? 500 : 'ok']),
) as Record<RequestName, Outcome>;

interface Hook {
  /** The options with the hook; without it, the router has it. */
  readonly options?: (of: Switch['of']) => object;
  /** What requests get while the hook fails, if that differs. An ignored hook changes nothing. */
  readonly fails?: Partial<Record<RequestName, Outcome>>;
  /** The same while its promise never settles, if it may return one. Default: `fails`. */
  readonly hangs?: Partial<Record<RequestName, Outcome>>;
  /** Why a way to fail is left out. */
  readonly without?: Partial<Record<FailureName, string>>;
  /** Whether it runs before the gateway serves. */
  readonly atStart?: true;
  /** Whether a gateway stops to call it, once it has failed or succeeded. The others have one gateway for all ways to fail. */
  readonly once?: true;
  /** Why no request reaches it. */
  readonly never?: string;
}

const rest = {
  rest: 500,
  restError: 500,
  text: 500,
  headed: 500,
  fromPage: 500,
  write: 500,
  writeError: 500,
  upload: 500,
};
const trpc = { trpc: 500, trpcInput: 500, trpcError: 500, trpcWrite: 500, batch: 500, lines: 500 };
const sockets = { socket: 500, socketError: 500 };
const all = { ...rest, ...trpc, ...sockets, mcp: 500 } as const;
// Results of tools have no status.
const timeouts = { ...Object.fromEntries(Object.keys(all).map((name) => [name, 504])), mcp: 500 };
/** A value that hooks of policies and schemes are for, but not sockets, which exist without calls. */
const scheme = (part: object, of: Switch['of'], name: string) => ({
  authentication: custom({
    name: 'key',
    document: { type: 'http', scheme: 'Key' },
    challenge: 'Key',
    read: (source) => source.header('authorization'),
    verify: () => ({ id: 'ada' }),
    scopes: () => ['all'],
    ...part,
    ...(name !== '' && { [name]: of((part as Record<string, AnyFunction>)[name] as AnyFunction) }),
  }),
});

const trace = { traceId: '1'.repeat(32), spanId: '1'.repeat(16), isSampled: true };
const telemetry = (part: { begin?: AnyFunction; request?: object; call?: object }) => ({
  telemetry: {
    begin:
      part.begin ??
      (() => ({
        trace,
        run: (run: () => unknown) => run(),
        call: () => ({ trace, run: (run: () => unknown) => run(), end() {}, ...part.call }),
        end() {},
        ...part.request,
      })),
  },
});
const beginWorks = () => telemetry({}).telemetry.begin();
const runs = (run: () => unknown) => run();

const hooks: Record<HookName, Hook> = {
  'document.operationId': {
    options: (of) => ({ document: { title: 'Pets', version: '1.0.0', operationId: of((path) => path) } }),
    atStart: true,
  },
  createContext: { options: (of) => ({ createContext: of(() => ({})) }), fails: all, hangs: timeouts },
  openapi: { options: (of) => ({ openapi: of(() => false) }), atStart: true },
  mapError: {
    options: (of) => ({ mapError: of(() => undefined) }),
    // A successful call has no error to map.
    fails: {},
  },
  spool: {
    options: (of) => ({ spool: of(spool) }),
    fails: { upload: 500 },
    without: { [never]: 'Its wait has no deadline of the gateway: it reads the body, which may be slow.' },
  },
  'spool.remove': {
    options: (of) => ({ spool: async (file: never) => ({ ...(await spool(file)), remove: of(() => {}) }) }),
  },
  onError: { options: (of) => ({ onError: of(() => {}) }) },
  onResponse: { options: (of) => ({ onResponse: of(() => {}) }) },
  'trpc.onError': { options: (of) => ({ trpc: { onError: of(() => {}) } }) },
  'trpc.responseMeta': { options: (of) => ({ trpc: { responseMeta: of(() => ({})) } }), fails: trpc },
  'document.transform': {
    options: (of) => ({ document: { ...document, transform: of((same) => same) } }),
    fails: { document: 500 },
    once: true,
    without: { [never]: 'A document has no deadline.' },
  },
  'rateLimit.key': {
    options: (of) => ({ rateLimit: { calls: 1000, windowMs: 60_000, key: of(() => 'ada') } }),
    fails: all,
  },
  'idempotency.caller': {
    options: (of) => ({ idempotency: { caller: of(() => 'ada') } }),
    fails: { write: 500, writeError: 500 },
  },
  'state.add': {
    options: (of) => state('add', of),
    fails: { write: 503, writeError: 503 },
    without: {
      [never]: 'A state that does not respond is not called again for a while: idempotencyState.test.ts.',
    },
  },
  'state.set': { options: (of) => state('set', of) },
  'state.delete': { options: (of) => state('delete', of) },
  'state.take': {
    options: (of) => ({ ...state('take', of), rateLimit: { calls: 1000, windowMs: 60_000 } }),
    once: true,
  },
  'cors.origins': {
    // The page gets no CORS headers, but its GET runs, as without `cors`.
    options: (of) => ({ cors: { origins: of(() => true) } }),
  },
  'telemetry.begin': { options: (of) => telemetry({ begin: of(beginWorks) }) },
  'telemetry.request.run': { options: (of) => telemetry({ request: { run: of(runs) } }) },
  'telemetry.request.call': { options: (of) => telemetry({ request: { call: of(() => undefined) } }) },
  'telemetry.request.end': { options: (of) => telemetry({ request: { end: of(() => {}) } }) },
  'telemetry.call.run': { options: (of) => telemetry({ call: { run: of(runs) } }) },
  'telemetry.call.end': { options: (of) => telemetry({ call: { end: of(() => {}) } }) },
  'errorFormat.body': {
    options: (of) => ({ errorFormat: { ...problemDetails, body: of(problemDetails.body) } }),
  },
  'errorFormat.schemaOf': {
    options: (of) => ({
      errorFormat: { ...problemDetails, schemaOf: of(problemDetails.schemaOf as never) },
    }),
    fails: { document: 500 },
    once: true,
    without: { [never]: 'A document has no deadline.' },
  },
  'authentication.read': {
    options: (of) => scheme({ read: (source: Headers) => source.header('authorization') }, of, 'read'),
    fails: { ...all, socket: 500 },
  },
  'authentication.verify': {
    options: (of) => scheme({ verify: () => ({ id: 'ada' }) }, of, 'verify'),
    fails: all,
    hangs: { ...timeouts, mcp: 504 },
  },
  'authentication.scopes': {
    options: (of) => scheme({ scopes: () => ['all'] }, of, 'scopes'),
    fails: { rest: 500, fromPage: 500, trpc: 500, batch: 500, lines: 500, mcp: 500, socket: 500 },
  },
  'authentication.oauthClient': { never: 'The service calls it, where it reads `via`.' },
  'authentication.challenge': {
    never: 'No scheme of the gateway takes it: each writes its challenge at start.',
  },
  'policies.admit': {
    options: (of) => ({ policies: [{ admit: of(() => {}) }] }),
    fails: all,
    without: { [never]: 'An HTTP request waits for it without a deadline.' },
  },
  'policies.complete': {
    options: (of) => ({ policies: [{ complete: of(() => {}) }] }),
    fails: { ...all, page: 500, document: 500 },
    hangs: { ...timeouts, mcp: 504, page: 504, document: 504 },
  },
  'policies.settled': {
    options: (of) => ({ policies: [{ settled: of(() => {}) }] }),
    // The JSON lines of the test are complete before they are sent. A page and the document call nothing.
    fails: all,
    hangs: { ...timeouts, mcp: 504 },
  },
  'meta.produces': { fails: { text: 500 } },
  'meta.headers': { fails: { headed: 500 } },
  routes: {
    options: (of) => ({ routes: { '/page': of(page) } }),
    fails: { page: 500 },
    without: { [never]: 'A route has no deadline.' },
  },
  'router.errorFormatter': {},
  'router.errors': {},
  'router.transformer.serialize': { fails: { ...trpc, ...sockets, lines: 'cut' } },
  // As in tRPC, an input that cannot be deserialized is the client's error.
  'router.transformer.deserialize': {
    fails: { trpcInput: 400, trpcWrite: 400, socket: 400, socketError: 400 },
  },
};

interface Headers {
  header(name: string): string | undefined;
}
const document = { title: 'Hooks', version: '1.0.0' };
const page = () => ({ status: 200, headers: [], body: 'page' });
async function spool({ name, stream }: Parameters<Spool>[0]) {
  const bytes = await new Response(stream()).arrayBuffer();
  return { file: new File([new Uint8Array(bytes)], name), remove: async () => {} };
}

function state(name: 'add' | 'set' | 'delete' | 'take', of: Switch['of']) {
  const memory = memoryState();
  return { state: { ...memory, [name]: of(memory[name]) } };
}

async function start(name: HookName, hook = new Switch()) {
  const records: RequestRecord[] = [];
  const gateway = await createGateway({
    router: createRouter(name, hook),
    createContext: () => ({}),
    document,
    mcp: mcp(),
    idempotency: { caller: () => undefined },
    callTimeoutMs: 1000,
    spool,
    routes: { '/page': page },
    onResponse: (record: RequestRecord) => void records.push(record),
    ...hooks[name].options?.(hook.of),
  } as never);
  return { gateway, hook, records };
}

/** Serves a gateway with the hook. */
async function serveWith(name: HookName) {
  const { gateway, hook, records } = await start(name);
  const server = await serve(gateway);
  const close = async () => void (await server.close({ timeoutMs: 0, graceMs: 0 }));
  return { hook, records, client: clientOf(server), close };
}

const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown) => void unhandled.push(reason);
beforeEach(() => void process.on('unhandledRejection', onUnhandled));
afterEach(async () => {
  // Node reports a rejection after the callbacks of promises.
  await new Promise((resolve) => setTimeout(resolve, 5));
  process.off('unhandledRejection', onUnhandled);
  const [reason] = unhandled.splice(0);
  if (reason !== undefined) throw new Error('A hook would have ended the process.', { cause: reason });
});

const names = (Object.keys(requests) as RequestName[]).filter(
  (name) => has('WebSockets') || !name.startsWith('socket'),
);
/** Sends all requests at once. */
const sendAll = async (client: Client) =>
  Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await requests[name](client)] as const)),
  );
const cases = Object.entries(hooks) as [HookName, Hook][];
/** Beside the first adapter: at once, later and never. What fails is read by the same code on each. */
const failing =
  longForm || adapterOfRun() === nodeServers[0]
    ? (Object.keys(failures) as FailureName[])
    : (['throws', 'rejects later', never] as const);

describe.each(cases.filter(([, hook]) => !hook.atStart && hook.never === undefined))('%s', (name, hook) => {
  // A state that fails is logged.
  if (name.startsWith('state.')) {
    // oxlint-disable no-console -- it is what the state logs to
    beforeEach(() => void vi.mocked(console.error).mockImplementation(() => {}));
    afterEach(() => void vi.mocked(console.error).mockClear());
    // oxlint-enable no-console
  }
  let served: Awaited<ReturnType<typeof serveWith>>;
  (hook.once ? beforeEach : beforeAll)(async () => {
    served = await serveWith(name);
    return served.close;
  });
  it.for(failing.filter((failure) => hook.without?.[failure] === undefined))(
    `each request is answered if ${name} %s, and works after it`,
    async (failure) => {
      const { hook: toggle, client } = served;
      toggle.calls = 0;
      toggle.failure = failures[failure];
      const expected = { ...usual, ...(failure === never ? (hook.hangs ?? hook.fails) : hook.fails) };
      const outcomes = await sendAll(client);
      const called = toggle.calls;
      toggle.failure = undefined;
      expect(outcomes).toEqual(Object.fromEntries(names.map((each) => [each, expected[each]])));
      expect(called).toBeGreaterThan(0);
      expect(await sendAll(client)).toEqual(Object.fromEntries(names.map((each) => [each, usual[each]])));
    },
  );
});

it.for(
  cases
    .filter(([, hook]) => hook.atStart)
    .flatMap(([name]) => failing.map((failure): [HookName, FailureName] => [name, failure])),
)('createGateway rejects if %s %s', async ([name, failure]) => {
  const toggle = new Switch();
  toggle.failure = failures[failure];
  const outcome = start(name, toggle).then(
    () => 'started',
    () => 'rejected',
  );
  expect(await outcome).toBe('rejected');
});

it('an error of a hook that must not be asynchronous names the hook and the fix, and the client does not receive it', async () => {
  const { hook, client, records, close } = await serveWith('rateLimit.key');
  onTestFinished(close);
  hook.failure = failures['rejects later'];
  const response = await client.server.fetch(`${client.server.origin}/v1/read`);
  hook.failure = undefined;
  expect([response.status, await response.json()]).toEqual([
    500,
    { code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error', status: 500 },
  ]);
  await expect.poll(() => records.length).toBe(1);
  expect(records[0]?.error).toMatchObject({
    cause: new TypeError(
      'rateLimit.key returned a promise, but its result is needed at once. Return the value itself: keep what it needs in memory, or load it before, such as in createContext or a middleware.',
    ),
  });
});
