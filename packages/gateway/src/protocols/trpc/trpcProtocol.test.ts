import {
  getErrorShape,
  getTRPCErrorFromUnknown,
  initTRPC,
  transformTRPCResponse,
  TRPCError,
} from '@trpc/server';
import type { AnyTRPCRouter } from '@trpc/server';
import { octetInputParser, resolveResponse, type HTTPBaseHandlerOptions } from '@trpc/server/http';
import type { TRPCRequestInfo } from '@trpc/server/http';
import { sortedLines } from '@petstore/testing/jsonLines';
import { describe, expect, it, vi } from 'vitest';
import fc from 'fast-check';
import { z } from 'zod';
import { createGateway } from '../../gateway.ts';
import type { GatewayOptions } from '../../options.ts';
import type { RequestRecord } from '../../calls/requestRecord.ts';
import type { GatewayMeta } from '../../procedures/meta.ts';
import { BodyTooLargeError, type HttpRequest } from '../../http/request.ts';
import { headersOf, isBodyStream } from '../../http/response.ts';
import { bearer } from '../../auth/schemes/bearer.ts';

// The oracle is tRPC's own `resolveResponse`, called as by its standalone adapter. Status, headers, body and the arguments
// of all callbacks of both sides are compared.

/** The arguments of the callbacks of one side. */
type Events = unknown[][];
interface Context {
  readonly events: Events;
}

const serialization = {
  input: {
    serialize: (value: unknown) => value,
    deserialize: (value: unknown) => {
      if (value === 'undecodable') throw new TypeError('This input cannot be deserialized.');
      return typeof value === 'object' && value !== null && 'json' in value ? value.json : value;
    },
  },
  output: {
    serialize: (value: unknown) => {
      if (value === 'unencodable') throw new TypeError('This output cannot be serialized.');
      return { json: value };
    },
    deserialize: (value: unknown) => value,
  },
};

class Money {
  toJSON(member: string) {
    return `1 EUR in ${member}`;
  }
}

function routerOf(setting: Setting) {
  const t = initTRPC.context<Context>().create({
    isDev: false,
    ...(setting.transformer && { transformer: serialization }),
    ...(setting.pathSeparator !== undefined && { pathSeparator: setting.pathSeparator }),
    ...(setting.sse && { sse: setting.sse }),
    errorFormatter: ({ shape, error, path, input, type }) => {
      if (error.message === 'unformattable') throw new TypeError('The formatter broke.');
      if (error.message === 'teapot') return { ...shape, data: { ...shape.data, httpStatus: 418 } };
      if (error.message === 'bigint') return { ...shape, data: { ...shape.data, size: 1n } };
      // Converted, since JSON shows nothing of a file.
      return { ...shape, data: { ...shape.data, path, input: shown(input), type } };
    },
  });
  const step = t.procedure.use(({ ctx, path, type, batchIndex, signal, next }) => {
    ctx.events.push(['call', path, type, batchIndex, signal?.aborted]);
    return next();
  });
  const any = step.input(z.unknown());
  return t.router({
    hello: step.query(() => 'world'),
    echo: any.query(({ input }) => input),
    nothing: step.query(() => undefined),
    nil: step.query(() => null),
    money: step.query(() => new Money()),
    moneys: step.query(() => [new Money(), { a: new Money() }]),
    big: step.query(() => 10n),
    unencodable: step.query(() => 'unencodable'),
    method: step.query(() => () => 1),
    text: step.query(() => 'ü 🐶 \u2028 "\\\ud800'),
    iterable: step.query(async function* () {
      yield 1;
    }),
    promised: step.query(() => ({ a: Promise.resolve(1) })),
    checked: step.input(z.object({ n: z.number() })).query(({ input }) => input.n),
    later: step.input(z.unknown()).query(async ({ input }) => {
      await new Promise((resolve) => setImmediate(resolve));
      return { input };
    }),
    conflict: step.input(z.string()).query(({ input }) => {
      throw new TRPCError({ code: 'CONFLICT', message: input });
    }),
    write: any.mutation(({ input }) => ({ wrote: input })),
    touch: step.mutation(() => 'touched'),
    failWrite: any.mutation(() => {
      throw new Error('Not written');
    }),
    upload: step.input(z.instanceof(FormData)).mutation(({ input }) => shown(input)),
    octets: step.input(octetInputParser).mutation(({ input }) => new Response(input).text()),
    count: any.subscription(async function* ({ input }) {
      yield input;
      yield 'last';
    }),
    failCount: any.subscription(() => {
      throw new TRPCError({ code: 'FORBIDDEN', message: 'Not counted' });
    }),
    notCounted: any.subscription((() => 5) as never),
    deep: t.router({ hello: step.query(() => 'below') }),
  });
}

/** Converts an input to a value that JSON can show. */
const shown = (input: unknown): unknown =>
  input instanceof FormData
    ? [...input].map(([name, value]) => [
        name,
        typeof value === 'string' ? value : [value.name, value.size, value.type],
      ])
    : input instanceof ReadableStream
      ? 'a stream'
      : input;

/** The configuration of both sides. */
interface Setting {
  readonly options?: Pick<
    HTTPBaseHandlerOptions<AnyTRPCRouter, unknown>,
    'allowBatching' | 'allowMethodOverride' | 'maxBatchSize' | 'responseMeta'
  >;
  readonly transformer?: true;
  readonly pathSeparator?: '-' | '~';
  readonly sse?: { readonly enabled: boolean };
  readonly basePath?: `/${string}`;
  readonly context?: 'fails' | 'waits' | 'readsInput';
}

const settings = {
  default: {},
  transformer: { transformer: true },
  separator: { pathSeparator: '-' },
  unusualSeparator: { pathSeparator: '~' },
  maxBatchSize: { options: { maxBatchSize: 2 } },
  noBatching: { options: { allowBatching: false } },
  methodOverride: { options: { allowMethodOverride: true } },
  rootPath: { basePath: '/' },
  longPath: { basePath: '/api/v1/' },
  unencodedPath: { basePath: '/ä b' },
  noEvents: { sse: { enabled: false } },
  contextFails: { context: 'fails' },
  contextWaits: { context: 'waits' },
  contextReadsInput: { context: 'readsInput' },
  metaHeaders: {
    options: {
      responseMeta: ({ errors }) => ({
        ...(errors.length > 0 && { status: 418 }),
        headers: new Headers([
          ['cache-control', 'max-age=1'],
          ['content-type', 'application/x'],
          ['set-cookie', 'a=1'],
          ['set-cookie', 'b=2'],
        ]),
      }),
    },
  },
  metaObject: {
    options: {
      responseMeta: ({ type }) => ({
        status: 202,
        headers: { Vary: ['origin', 'x'], 'Content-Type': 'text/x', 'X-Type': type, 'x-none': undefined },
      }),
    },
  },
  metaThrows: {
    options: {
      responseMeta: () => {
        throw new TypeError('No meta');
      },
    },
  },
  metaThrowsForSuccess: {
    options: {
      responseMeta: ({ errors }) => {
        if (errors.length === 0) throw new TypeError('No meta');
        return { headers: { 'x-failed': String(errors.length) } };
      },
    },
  },
  metaBodiless: { options: { responseMeta: ({ errors }) => (errors.length > 0 ? {} : { status: 204 }) } },
  metaNoStatus: { options: { responseMeta: () => ({ status: 1000 }) } },
  metaTransformer: {
    transformer: true,
    options: { responseMeta: ({ data }) => ({ headers: new Headers([['x-data', String(data.length)]]) }) },
  },
} as const satisfies Record<string, Setting>;
type SettingName = keyof typeof settings;

interface Row {
  readonly name: string;
  readonly method: string;
  /** Below the base path, with its slash. */
  readonly target: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
  readonly settings?: readonly SettingName[];
}

interface Outcome {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly events: readonly string[];
}

/** Creates the callbacks of one side. */
function callbacks(setting: Setting, events: Events) {
  const { responseMeta, ...options } = setting.options ?? {};
  const calls = (info: TRPCRequestInfo | undefined) =>
    info?.calls.map((call) => [
      call.path,
      call.batchIndex,
      call.procedure?._def.type ?? null,
      shown(call.result()),
    ]);
  const seen = (info: TRPCRequestInfo | undefined) =>
    info && [
      info.isBatchCall,
      info.accept,
      info.type,
      info.connectionParams,
      info.url?.href,
      info.signal.aborted,
    ];
  return {
    options,
    createContext: async (info: TRPCRequestInfo): Promise<Context> => {
      events.push(['context', seen(info), calls(info)]);
      if (setting.context === 'waits') await new Promise((resolve) => setImmediate(resolve));
      if (setting.context === 'readsInput') {
        for (const call of info.calls) {
          // oxlint-disable-next-line no-await-in-loop -- in turn
          events.push(['rawInput', shown(await call.getRawInput())]);
        }
      }
      if (setting.context === 'fails') throw new TypeError('No context');
      return { events };
    },
    onError: ({ error, path, input, ctx, type }: Record<string, unknown> & { error: TRPCError }) => {
      // For an error of the whole request, tRPC passes context and type to some of its reports only.
      const call = path === undefined ? [] : [path, shown(input), ctx !== undefined, type];
      events.push(['error', error.code, error.message, ...call, String(error.cause)]);
    },
    ...(responseMeta && {
      responseMeta: (results: Parameters<typeof responseMeta>[0]) => {
        const { ctx, paths, type, data, errors, eagerGeneration, info } = results;
        events.push([
          'meta',
          ctx !== undefined,
          paths,
          type,
          data.map((one) => ('error' in one ? one.error : shown(one.result.data))),
          errors.map(({ message }) => message),
          eagerGeneration,
          seen(info),
        ]);
        return responseMeta(results);
      },
    }),
  };
}

interface Side {
  readonly events: Events;
  readonly router: ReturnType<typeof routerOf>;
  readonly callbacks: ReturnType<typeof callbacks>;
  readonly gateway: () => ReturnType<typeof createGateway>;
}

/** Returns the router, callbacks and gateway of one side, created once for all rows. */
function side(of: 'official' | 'gateway', name: SettingName): Side {
  const key = `${of} ${name}`;
  const known = sides.get(key);
  if (known) return known;
  const setting: Setting = settings[name];
  const events: Events = [];
  const recorded = callbacks(setting, events);
  const router = routerOf(setting);
  let gateway: ReturnType<typeof createGateway> | undefined;
  const created = {
    events,
    router,
    callbacks: recorded,
    gateway: () =>
      (gateway ??= createGateway({
        router,
        trpcBasePath: setting.basePath ?? '/trpc',
        restBasePath: '/rest',
        createContext: ({ info }) => recorded.createContext(info as TRPCRequestInfo),
        trpc: {
          ...recorded.options,
          onError: recorded.onError as never,
          ...(recorded.responseMeta && { responseMeta: recorded.responseMeta }),
        },
        document: { title: 'Requests', version: '0.0.0' },
        onResponse: () => {},
      })),
  };
  sides.set(key, created);
  return created;
}
const sides = new Map<string, Side>();

const trimSlashes = (path: string) => path.replace(/^\//, '').replace(/\/$/, '');

/** Returns the response of tRPC's standalone adapter (@trpc/server 11.25). */
async function official(name: SettingName, row: Row): Promise<Outcome> {
  const setting: Setting = settings[name];
  const basePath = setting.basePath ?? '/trpc';
  const { events, router, callbacks: recorded } = side('official', name);
  const { options, createContext, onError, responseMeta } = recorded;
  events.length = 0;
  let response: Response;
  try {
    const url = new URL(`${basePath.replace(/\/$/, '')}${row.target}`, 'http://localhost');
    response = await resolveResponse({
      ...options,
      ...(responseMeta && { responseMeta }),
      router,
      req: new Request(url, {
        method: row.method,
        headers: row.headers as [string, string][],
        // As in the adapter, all other methods have a body, even if it is empty.
        ...(row.method !== 'GET' && row.method !== 'HEAD' && { body: new TextEncoder().encode(row.body) }),
      }),
      path: trimSlashes(trimSlashes(url.pathname).slice(trimSlashes(basePath).length)),
      error: null,
      createContext: ({ info }) => createContext(info),
      onError: onError as never,
    });
  } catch (cause) {
    const error = getTRPCErrorFromUnknown(cause);
    const unknown = { error, type: 'unknown', path: undefined, input: undefined, ctx: undefined } as const;
    const config = router._def._config;
    const shape = getErrorShape({ config, ...unknown });
    try {
      onError(unknown);
    } catch {
      // In the adapter, an error of `onError` here would end the process.
    }
    // Without a content type: encoded as bytes, since `Response` adds a type to strings.
    const body = new TextEncoder().encode(JSON.stringify(transformTRPCResponse(config, { error: shape })));
    response = new Response(body, { status: shape.data.httpStatus });
  }
  const body = await textOf(response.body ?? [], (cause) => {
    const error = getTRPCErrorFromUnknown(cause);
    try {
      // As in the adapter.
      onError({ error, type: 'unknown', path: undefined, input: undefined, ctx: undefined });
    } catch {
      // In the adapter, an error of `onError` here would end the process.
    }
  });
  // A call that is still running after its response has failed reports its error later.
  await new Promise(setImmediate);
  return outcome(response.status, response.headers, body, events);
}

async function ours(name: SettingName, row: Row, hasBody: boolean): Promise<Outcome> {
  const setting: Setting = settings[name];
  const basePath = setting.basePath ?? '/trpc';
  const { events, gateway } = side('gateway', name);
  events.length = 0;
  const { handle } = await gateway();
  const target = `${basePath.replace(/\/$/, '')}${row.target}`;
  const response = await handle(requestOf(target, row, hasBody));
  const body = isBodyStream(response.body)
    ? await textOf(response.body)
    : Buffer.from(response.body ?? '').toString();
  return outcome(response.status, new Headers(headersOf(response) as [string, string][]), body, events);
}

/**
 * Returns the text of a stream. For one that fails, only its first line, since the number of lines before the error depends on
 * the order of the calls.
 */
async function textOf(
  stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  onCut: (cause: unknown) => void = () => {},
): Promise<string> {
  const chunks: Uint8Array[] = [];
  const text = () => Buffer.concat(chunks).toString();
  try {
    for await (const chunk of stream) chunks.push(chunk);
    return text();
  } catch (cause) {
    onCut(cause);
    return `${text().split('\n', 1)[0]}\ncut: ${String(cause)}`;
  }
}

function requestOf(target: string, { method, headers = [], body = '' }: Row, hasBody: boolean): HttpRequest {
  const [path = '', ...query] = target.split('?');
  const all: [name: string, value: string][] = [
    ['host', 'localhost'],
    ...headers.map(([name, value]): [string, string] => [name.toLowerCase(), value]),
  ];
  const bytes = new TextEncoder().encode(body);
  const signal = new AbortController().signal;
  return {
    method,
    path,
    query: query.join('?'),
    header: (name) => all.find(([other]) => other === name)?.[1] || undefined,
    hasHeader: (name) => all.some(([other]) => other === name),
    headers: () => all,
    remoteAddress: () => '127.0.0.1',
    isAborted: false,
    signal,
    ...(hasBody && { bodyNow: () => bytes }),
    body: async (maxBytes) => {
      if (bytes.byteLength > maxBytes) throw new BodyTooLargeError(maxBytes);
      return bytes;
    },
    async *bodyChunks() {
      yield bytes.subarray(0, 2);
      yield bytes.subarray(2);
    },
  };
}

/** Headers that only the gateway sets, or that belong to the connection. */
const ignoredHeaders = new Set([
  'connection',
  'transfer-encoding',
  'x-request-id',
  'x-content-type-options',
  'retry-after',
]);

function outcome(status: number, headers: Headers, body: string, events: Events): Outcome {
  const compared = [...headers].filter(([name]) => !ignoredHeaders.has(name));
  return {
    status,
    headers: Object.fromEntries(
      compared.map(([name], index) => [`${name} ${index}`, compared[index]?.[1] ?? '']),
    ),
    // Sorted, since the order of concurrent calls is not specified.
    body: /^ *\{("json":\{)?"0":\[/.test(body) && body.endsWith('\n') ? sortedLines(body).join('\n') : body,
    events: events
      .map((event) => JSON.stringify(event, (_key, value: unknown) => withoutBigInt(value)))
      .toSorted(),
  };
}

const withoutBigInt = (value: unknown) =>
  typeof value === 'bigint' ? `${value}n` : value === undefined ? 'undefined' : value;

const json = [['content-type', 'application/json']] as const;
const lines = [['trpc-accept', 'application/jsonl']] as const;
const form = '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n';
const multipart = [['content-type', 'multipart/form-data; boundary=x']] as const;
const octets = [['content-type', 'application/octet-stream']] as const;
const inputQuery = (value: unknown) => `input=${encodeURIComponent(JSON.stringify(value))}`;
const all = Object.keys(settings) as SettingName[];
/** For outputs and errors that cannot be encoded: tRPC calls `responseMeta` for the success and for the error then. */
const withoutMeta = all.filter((name) => !name.startsWith('meta'));

/** Settings with which tRPC starts a stream of events that it never sends, and reports its error. */
const unsentStreamSettings: ReadonlySet<SettingName> = new Set([
  'metaThrows',
  'metaThrowsForSuccess',
  'metaBodiless',
  'metaNoStatus',
]);

const rows: readonly Row[] = [
  { name: 'a query', method: 'GET', target: '/hello', settings: all },
  {
    name: 'a query with an input',
    method: 'GET',
    target: `/echo?${inputQuery({ a: [1, 'ü'] })}`,
    settings: all,
  },
  { name: 'a query of a nested router', method: 'GET', target: '/deep.hello' },
  {
    name: 'a query by another separator',
    method: 'GET',
    target: '/deep-hello',
    settings: ['default', 'separator'],
  },
  {
    name: 'a query by an unusual separator',
    method: 'GET',
    target: '/deep~hello',
    settings: ['unusualSeparator'],
  },
  {
    name: 'a batch by another separator',
    method: 'GET',
    target: '/deep-hello,hello?batch=1',
    settings: ['separator'],
  },
  {
    name: 'an encoded separator',
    method: 'GET',
    target: '/deep%2Dhello',
    settings: ['default', 'separator'],
  },
  { name: 'an output of undefined', method: 'GET', target: '/nothing', settings: ['default', 'transformer'] },
  { name: 'an output of null', method: 'GET', target: '/nil' },
  { name: 'an output with toJSON', method: 'GET', target: '/money', settings: ['default', 'transformer'] },
  { name: 'outputs with toJSON in a batch', method: 'GET', target: '/money,moneys,nothing?batch=1' },
  { name: 'an output that JSON cannot encode', method: 'GET', target: '/big', settings: withoutMeta },
  {
    name: 'an output that JSON cannot encode, in a batch',
    method: 'GET',
    target: '/hello,big,missing?batch=1',
    settings: withoutMeta,
  },
  {
    name: 'an output that the transformer rejects',
    method: 'GET',
    target: '/unencodable',
    settings: ['transformer'],
  },
  { name: 'an output that is a function', method: 'GET', target: '/method,method?batch=1' },
  { name: 'an output beyond ASCII', method: 'GET', target: '/text' },
  { name: 'a stream in a call', method: 'GET', target: '/iterable', settings: all },
  { name: 'a promise in a call', method: 'GET', target: '/promised' },
  { name: 'streams in a batch', method: 'GET', target: '/iterable,hello,promised?batch=1', settings: all },
  { name: 'a call that fails', method: 'GET', target: `/conflict?${inputQuery('no')}`, settings: all },
  {
    name: 'a call whose error has a status of its own',
    method: 'GET',
    target: `/conflict?${inputQuery('teapot')}`,
  },
  {
    name: 'a call whose error cannot be formatted',
    method: 'GET',
    target: `/conflict?${inputQuery('unformattable')}`,
    settings: ['default', 'metaHeaders'],
  },
  {
    name: 'a call whose error cannot be serialized',
    method: 'GET',
    target: `/conflict?${inputQuery('bigint')}`,
    settings: ['default'],
  },
  {
    name: 'an input that the schema rejects',
    method: 'GET',
    target: `/checked?${inputQuery({})}`,
    settings: all,
  },
  { name: 'an input that is not JSON', method: 'GET', target: '/echo?input=%7B', settings: all },
  {
    name: 'an input that cannot be deserialized',
    method: 'GET',
    target: `/echo?${inputQuery('undecodable')}`,
    settings: ['transformer'],
  },
  {
    name: 'an input of a batch that cannot be deserialized',
    method: 'GET',
    target: `/echo,hello,echo?batch=1&${inputQuery({ 0: { json: 1 }, 2: 'undecodable' })}`,
    settings: ['transformer'],
  },
  {
    name: 'an input of a batch that is not an object',
    method: 'GET',
    target: '/echo,hello?batch=1&input=[1]',
  },
  {
    name: 'a batch',
    method: 'GET',
    target: `/echo,later,hello?batch=1&${inputQuery({ 0: 1, 1: 'x', 5: 2 })}`,
    settings: all,
  },
  {
    name: 'a batch in which some calls fail',
    method: 'GET',
    target: `/hello,conflict,conflict,checked?batch=1&${inputQuery({ 1: 'a', 2: 'teapot' })}`,
    settings: all,
  },
  {
    name: 'a batch in which all calls fail',
    method: 'GET',
    target: `/conflict,conflict?batch=1&${inputQuery({ 0: 'a', 1: 'b' })}`,
    settings: all,
  },
  { name: 'a batch of one', method: 'GET', target: '/hello?batch=1', settings: all },
  { name: 'an empty batch', method: 'GET', target: '/?batch=1' },
  { name: 'a batch of commas', method: 'GET', target: '/,,?batch=1' },
  { name: 'a batch of query and mutation', method: 'GET', target: '/hello,write?batch=1', settings: all },
  {
    name: 'a batch of a mutation and an unknown procedure',
    method: 'POST',
    target: '/missing,write?batch=1',
    headers: json,
    body: '{"1":5}',
  },
  { name: 'a batch of query and subscription', method: 'GET', target: '/hello,count?batch=1' },
  {
    name: 'a batch of subscriptions',
    method: 'GET',
    target: '/count,count?batch=1&lastEventId=5',
    settings: ['default', 'contextReadsInput', 'metaObject'],
  },
  { name: 'batch=1 encoded', method: 'GET', target: '/hello?batch=%31' },
  { name: 'batch encoded', method: 'GET', target: '/hello?b%61tch=1' },
  { name: 'batch twice', method: 'GET', target: '/hello?batch=0&batch=1' },
  { name: 'input twice', method: 'GET', target: '/echo?input=1&input=2' },
  { name: 'input encoded', method: 'GET', target: '/echo?inp%75t=1' },
  { name: 'an empty input', method: 'GET', target: '/echo?input=' },
  { name: 'an input without a value', method: 'GET', target: '/echo?input&batch' },
  { name: 'an input that is not UTF-8', method: 'GET', target: '/echo?input=%22%FF%22' },
  { name: 'an input with a broken escape', method: 'GET', target: '/echo?input=%22%2%22' },
  { name: 'an input with a plus', method: 'GET', target: '/echo?input=%22a+b%2Bc%22' },
  { name: 'a raw quote in the query', method: 'GET', target: `/echo?input="it's"` },
  { name: 'a GET with the content type of JSON', method: 'GET', target: '/echo?input=1', headers: json },
  {
    name: 'a GET with the content type of text',
    method: 'GET',
    target: '/echo?input=1',
    headers: [['content-type', 'text/plain']],
  },
  {
    name: 'a GET with the content type of a form',
    method: 'GET',
    target: '/echo?input=1',
    headers: multipart,
    settings: all,
  },
  { name: 'a GET with the content type of octets', method: 'GET', target: '/echo?input=1', headers: octets },
  { name: 'a mutation', method: 'POST', target: '/write', headers: json, body: '{"a":1}', settings: all },
  { name: 'a mutation without a body', method: 'POST', target: '/write', headers: json },
  {
    name: 'a mutation with a query parameter',
    method: 'POST',
    target: '/write?input=1',
    headers: json,
    body: '2',
  },
  {
    name: 'a mutation with a broken body',
    method: 'POST',
    target: '/write',
    headers: json,
    body: '{',
    settings: all,
  },
  {
    name: 'a mutation with a byte order mark',
    method: 'POST',
    target: '/write',
    headers: json,
    body: '\ufeff1',
  },
  {
    name: 'a mutation without an input, with a broken body',
    method: 'POST',
    target: '/touch',
    headers: json,
    body: '{',
  },
  {
    name: 'a mutation that fails',
    method: 'POST',
    target: '/failWrite',
    headers: json,
    body: '1',
    settings: all,
  },
  {
    name: 'a batch of mutations',
    method: 'POST',
    target: '/write,touch?batch=1',
    headers: json,
    body: '{"0":1}',
    settings: all,
  },
  {
    name: 'a batch of mutations with a broken body',
    method: 'POST',
    target: '/write,touch?batch=1',
    headers: json,
    body: '{',
  },
  {
    name: 'a content type of JSON with another case, spaces and a charset',
    method: 'POST',
    target: '/write',
    headers: [['content-type', ' Application/JSON ; charset=x']],
    body: '1',
  },
  {
    name: 'text',
    method: 'POST',
    target: '/write',
    headers: [['content-type', 'text/plain']],
    body: '1',
    settings: all,
  },
  {
    name: 'an urlencoded form',
    method: 'POST',
    target: '/upload',
    headers: [['content-type', 'application/x-www-form-urlencoded']],
    body: 'a=1',
  },
  { name: 'no content type', method: 'POST', target: '/write', body: '1' },
  { name: 'a form', method: 'POST', target: '/upload', headers: multipart, body: form, settings: all },
  {
    name: 'a form for a query',
    method: 'POST',
    target: '/echo',
    headers: multipart,
    body: form,
    settings: ['default', 'methodOverride', 'metaObject'],
  },
  {
    name: 'a form for a subscription',
    method: 'POST',
    target: '/count',
    headers: multipart,
    body: form,
    settings: ['default', 'methodOverride'],
  },
  {
    name: 'a form for an unknown procedure',
    method: 'POST',
    target: '/missing',
    headers: multipart,
    body: form,
    settings: all,
  },
  { name: 'a form that is broken', method: 'POST', target: '/upload', headers: multipart, body: '--x\r\n' },
  {
    name: 'a form in a batch',
    method: 'POST',
    target: '/upload,upload?batch=1',
    headers: multipart,
    body: form,
  },
  {
    name: 'a form that requests JSON lines',
    method: 'POST',
    target: '/upload',
    headers: [...multipart, ...lines],
    body: form,
  },
  { name: 'a form by PUT', method: 'PUT', target: '/upload', headers: multipart, body: form },
  { name: 'octets', method: 'POST', target: '/octets', headers: octets, body: 'some text', settings: all },
  { name: 'octets without a body', method: 'POST', target: '/octets', headers: octets },
  {
    name: 'octets for a mutation without an input',
    method: 'POST',
    target: '/touch',
    headers: octets,
    body: 'some text',
  },
  {
    name: 'octets for a mutation of JSON',
    method: 'POST',
    target: '/checked',
    headers: octets,
    body: '1',
    settings: ['default', 'methodOverride'],
  },
  { name: 'octets by DELETE', method: 'DELETE', target: '/octets', headers: octets },
  { name: 'JSON for octets', method: 'POST', target: '/octets', headers: json, body: '1' },
  { name: 'an unknown procedure', method: 'GET', target: '/missing', settings: all },
  {
    name: 'an unknown procedure by POST',
    method: 'POST',
    target: '/missing',
    headers: json,
    body: '{',
    settings: all,
  },
  { name: 'the path __proto__', method: 'GET', target: '/__proto__' },
  { name: 'the path constructor', method: 'GET', target: '/constructor' },
  { name: 'the path of a router', method: 'GET', target: '/deep' },
  { name: 'an empty path', method: 'GET', target: '' },
  { name: 'the path /', method: 'GET', target: '/' },
  { name: 'a trailing slash', method: 'GET', target: '/hello/' },
  { name: 'two trailing slashes', method: 'GET', target: '/hello//' },
  { name: 'a path that is encoded', method: 'GET', target: '/%68ello', settings: all },
  { name: 'a path with invalid percent-encoding', method: 'GET', target: '/%zz', settings: all },
  { name: 'a path that is not UTF-8', method: 'GET', target: '/%ff?batch=1' },
  { name: 'an encoded comma', method: 'GET', target: '/hello%2Chello?batch=1' },
  { name: 'a comma in a single call', method: 'GET', target: '/hello,hello' },
  { name: 'a dot segment', method: 'GET', target: '/x/../hello' },
  { name: 'a backslash', method: 'GET', target: '/x\\..\\hello' },
  { name: 'GET of a mutation', method: 'GET', target: '/write', settings: all },
  {
    name: 'POST of a query',
    method: 'POST',
    target: '/checked',
    headers: json,
    body: '{"n":1}',
    settings: all,
  },
  {
    name: 'POST of a batch of queries',
    method: 'POST',
    target: '/echo,hello?batch=1',
    headers: json,
    body: '{"0":1}',
    settings: all,
  },
  {
    name: 'PUT of a query',
    method: 'PUT',
    target: '/hello',
    headers: json,
    body: '1',
    settings: ['default', 'methodOverride'],
  },
  {
    name: 'PATCH of a mutation',
    method: 'PATCH',
    target: '/touch',
    headers: json,
    settings: ['default', 'methodOverride'],
  },
  { name: 'DELETE of a mutation', method: 'DELETE', target: '/touch' },
  { name: 'HEAD', method: 'HEAD', target: '/hello', settings: all },
  { name: 'HEAD of a path with invalid percent-encoding', method: 'HEAD', target: '/%zz' },
  { name: 'connection parameters', method: 'GET', target: '/hello?connectionParams=%7B%22a%22%3A%22b%22%7D' },
  { name: 'connection parameters of null', method: 'GET', target: '/hello?connectionParams=null' },
  { name: 'connection parameters that are empty', method: 'GET', target: '/hello?connectionParams=' },
  {
    name: 'connection parameters of another shape',
    method: 'GET',
    target: '/hello?connectionParams=[1]',
    settings: all,
  },
  {
    name: 'connection parameters that are not JSON',
    method: 'GET',
    target: '/hello,write?batch=1&connectionParams=%7B',
  },
  {
    name: 'connection parameters of a form',
    method: 'POST',
    target: '/upload?connectionParams=%7B',
    headers: multipart,
    body: form,
  },
  {
    name: 'connection parameters of a mutation',
    method: 'POST',
    target: '/touch?connectionParams={"a":"b"}',
    headers: json,
  },
  {
    name: 'lines',
    method: 'GET',
    target: `/echo,hello?batch=1&${inputQuery({ 0: 1 })}`,
    headers: lines,
    settings: all,
  },
  {
    name: 'lines of a query and a mutation',
    method: 'GET',
    target: `/conflict,missing,write?batch=1&${inputQuery({ 0: 'no' })}`,
    headers: lines,
  },
  {
    name: 'lines in which some calls fail',
    method: 'GET',
    target: `/conflict,missing,hello,checked?batch=1&${inputQuery({ 0: 'no' })}`,
    headers: lines,
    settings: ['default', 'transformer', 'contextFails', 'metaHeaders'],
  },
  {
    name: 'lines of mutations',
    method: 'POST',
    target: '/write,hello,touch?batch=1',
    headers: [...lines, ...json],
    body: '{"0":1}',
  },
  {
    name: 'lines of which one cannot be encoded',
    method: 'GET',
    target: '/big,hello?batch=1',
    headers: lines,
    settings: ['default', 'transformer', 'metaHeaders', 'metaTransformer'],
  },
  { name: 'lines of mutations by GET', method: 'GET', target: '/write,touch?batch=1', headers: lines },
  { name: 'lines for one call', method: 'GET', target: '/hello', headers: lines, settings: all },
  {
    name: 'lines for a broken request',
    method: 'GET',
    target: '/hello?batch=1&connectionParams=[1]',
    headers: lines,
  },
  {
    name: 'lines by Accept',
    method: 'GET',
    target: '/hello?batch=1',
    headers: [['accept', 'text/html, application/jsonl']],
  },
  {
    name: 'Accept with a parameter',
    method: 'GET',
    target: '/hello?batch=1',
    headers: [['accept', 'application/jsonl;q=1']],
  },
  {
    name: 'another trpc-accept',
    method: 'GET',
    target: '/hello?batch=1',
    headers: [
      ['trpc-accept', 'x'],
      ['accept', 'application/jsonl'],
    ],
  },
  { name: 'lines of a subscription', method: 'GET', target: '/count?batch=1', headers: lines },
  {
    name: 'a subscription',
    method: 'GET',
    target: `/count?${inputQuery({ a: 1 })}`,
    settings: all,
  },
  {
    name: 'a subscription after an event',
    method: 'GET',
    target: `/count?${inputQuery({ a: 1 })}&lastEventId=7`,
  },
  {
    name: 'a subscription after an event without an input',
    method: 'GET',
    target: '/count?Last-Event-Id=7',
    settings: ['default', 'transformer', 'contextReadsInput'],
  },
  {
    name: 'a subscription after an event with an input that is not an object',
    method: 'GET',
    target: '/count?input=[1]&lastEventId=7',
  },
  {
    name: 'a subscription after an event by its header',
    method: 'GET',
    target: '/count?lastEventId=7',
    headers: [['Last-Event-ID', '8']],
  },
  {
    name: 'a subscription with connection parameters',
    method: 'GET',
    target: '/count?connectionParams=%7B%22a%22%3A%22b%22%7D',
  },
  {
    name: 'a subscription that fails',
    method: 'GET',
    target: '/failCount',
    settings: all.filter((name) => !unsentStreamSettings.has(name)),
  },
  { name: 'a subscription without events', method: 'GET', target: '/notCounted' },
  { name: 'a subscription whose input is broken', method: 'GET', target: '/count?input=%7B' },
  {
    name: 'a subscription by POST',
    method: 'POST',
    target: '/count?lastEventId=3',
    headers: json,
    body: '{"a":2}',
    settings: ['default', 'methodOverride', 'metaObject'],
  },
  { name: 'a query after an event', method: 'GET', target: '/echo?lastEventId=7&input={}' },
];

describe('tRPC over HTTP', () => {
  it.each(
    rows.flatMap((row) =>
      (row.settings ?? ['default' as const]).map((under) => ({ name: row.name, under, row })),
    ),
  )(
    '$name has the same response and callbacks as in tRPC’s own adapter, with the setting $under',
    async ({ under, row }) => {
      const expected = await official(under, row);
      expect(await ours(under, row, true)).toEqual(expected);
      expect(await ours(under, row, false)).toEqual(expected);
    },
  );
});

describe('random requests', () => {
  const part = fc.constantFrom(
    'hello',
    'echo',
    'checked',
    'conflict',
    'missing',
    'write',
    'touch',
    'count',
    'big',
    'money',
    'deep.hello',
    'h%65llo',
    '',
    '%',
    'later',
    'iterable',
    'nothing',
    'upload',
    'octets',
    'deep-hello',
    '__proto__',
  );
  const parameter = fc.constantFrom(
    'batch=1',
    'batch=0',
    'batch',
    'input=1',
    'input=',
    'input=%7B%220%22%3A1%7D',
    'input=%7B%22n%22%3A1%7D',
    'input={',
    'inp%75t=2',
    'b%61tch=1',
    'connectionParams={}',
    'connectionParams=1',
    'lastEventId=4',
    'x=1',
    '',
    '&',
    'input=%FF',
    'input=%22a+b%22',
    'input="no"',
  );
  const header = fc.constantFrom(
    ['content-type', 'application/json'],
    ['content-type', 'multipart/form-data; boundary=x'],
    ['content-type', 'application/octet-stream'],
    ['content-type', 'text/plain'],
    ['accept', '*/*'],
    ['accept', 'a,application/jsonl'],
    ['trpc-accept', 'application/jsonl'],
    ['trpc-accept', 'x'],
    ['last-event-id', '3'],
  ) as fc.Arbitrary<readonly [string, string]>;

  /** Keeps only the first header of a name: the gateway uses that one. */
  const isFirst = (
    [name]: readonly [string, string],
    at: number,
    every: readonly (readonly [string, string])[],
  ) => every.findIndex(([other]) => other === name) === at;

  it(
    'random requests have the same response and callbacks as in tRPC’s own adapter',
    { timeout: 60_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...all),
          fc.constantFrom('GET', 'GET', 'POST', 'POST', 'PUT', 'DELETE', 'HEAD'),
          fc.array(part, { minLength: 1, maxLength: 4 }),
          fc.array(parameter, { maxLength: 4 }),
          fc.array(header, { maxLength: 4 }),
          fc.constantFrom('', '{', '1', '{"0":1,"1":"no"}', '{"n":1}', form),
          async (setting, method, paths, query, headers, body) => {
            if (unsentStreamSettings.has(setting) && paths.includes('count')) return;
            if (!withoutMeta.includes(setting) && paths.includes('big')) return;
            const isBodiless = method === 'GET' || method === 'HEAD';
            const row: Row = {
              name: 'random',
              method,
              // Never with an empty query after `?`, which an adapter cannot detect.
              target: `/${paths.join(',')}?x&${query.join('&')}`,
              headers: headers.filter(isFirst),
              ...(!isBodiless && { body }),
            };
            expect(await ours(setting, row, true)).toEqual(await official(setting, row));
          },
        ),
        { numRuns: 300 },
      );
    },
  );
});

describe('policies and records of tRPC requests', () => {
  let subscription = (): AsyncIterable<number> => (async function* () {})();
  const t = initTRPC.meta<GatewayMeta>().create({ isDev: false });
  const openapi = { method: 'POST', path: '/open', protect: false } as const;
  const router = t.router({
    open: t.procedure
      .meta({ openapi })
      .output(z.string())
      .mutation(() => 'open'),
    closed: t.procedure.query(() => 'closed'),
    endless: t.procedure.subscription(() => subscription()),
  });
  const serve = async (
    row: Omit<Row, 'name'>,
    trpc: GatewayOptions<typeof router, unknown>['trpc'] = {},
    verify?: () => undefined,
  ) => {
    const records: RequestRecord[] = [];
    const gateway = await createGateway({
      router,
      createContext: () => ({}),
      trpc,
      ...(verify && { authentication: bearer({ verify }) }),
      document: { title: 'Records', version: '0.0.0' },
      onResponse: (record) => records.push(record),
    });
    const { status } = await gateway.handle(requestOf(`/trpc${row.target}`, { name: '', ...row }, true));
    return { status, records };
  };

  it('the record of a batch that is too large lists known procedures only', async () => {
    const trpc = { maxBatchSize: 2 };
    const { records } = await serve({ method: 'GET', target: '/closed,any,closed?batch=1' }, trpc);
    expect(records).toMatchObject([{ procedures: ['closed', 'closed'], calls: 3, limit: 'batch-size' }]);
  });

  it.each([
    ['POST', '/open', 'text/plain', 415],
    ['POST', '/open', 'application/json', 200],
    ['POST', '/closed', 'text/plain', 401],
    ['POST', '/%zz', 'application/json', 401],
  ])(
    '%s /trpc%s with the content type %s and without a credential responds with %i',
    async (method, target, type, status) => {
      const row = { method, target, headers: [['content-type', type]] as const };
      expect(await serve(row, {}, () => undefined)).toMatchObject({ status });
    },
  );

  it('a subscription is closed if its response cannot be created', async () => {
    const events = (async function* () {
      yield 1;
    })();
    const onReturn = vi.spyOn(events, 'return');
    subscription = () => events;
    const { records } = await serve(
      { method: 'GET', target: '/endless' },
      { responseMeta: () => ({ status: 204 }) },
    );
    expect(records).toMatchObject([{ status: 500, isStream: false }]);
    expect(onReturn).toHaveBeenCalledOnce();
  });
});

it('info of createContext has the same own members as in tRPC, without credentials', async () => {
  const seen: unknown[] = [];
  const { handle } = await createGateway({
    router: routerOf({}),
    createContext({ info }) {
      seen.push(info && JSON.parse(JSON.stringify({ ...info })));
      return { events: [] };
    },
    document: { title: 'Info', version: '0.0.0' },
  });
  const headers = [['authorization', 'Bearer secret']] as const;
  const query = `connectionParams=${encodeURIComponent('{"a":"b"}')}`;
  await handle(requestOf(`/trpc/hello?${query}`, { name: '', method: 'GET', target: '', headers }, true));
  expect(seen).toEqual([{ accept: null, connectionParams: { a: 'b' }, isBatchCall: false, type: 'query' }]);
});

describe('errors that cannot be encoded', () => {
  const serialize = () => {
    throw new Error('The transformer broke.');
  };
  const same = (value: unknown) => value;
  const transformer = {
    input: { serialize: same, deserialize: same },
    output: { serialize, deserialize: same },
  };
  it.each([
    ['an errorFormatter that returns a bigint', { errorFormatter: () => ({ size: 1n }) as never }],
    ['an errorFormatter that returns nothing', { errorFormatter: () => undefined as never }],
    ['a transformer that fails with every output', { transformer }],
  ])(
    'an asynchronous call that fails responds with a generic 500 if the router has %s',
    async (_description, config) => {
      const t = initTRPC.create({ isDev: false, ...config });
      const router = t.router({
        broken: t.procedure.query(async () => {
          await new Promise(setImmediate);
          throw new Error('secret');
        }),
      });
      const { handle } = await createGateway({
        router,
        createContext: () => ({}),
        document: { title: 'Errors', version: '0.0.0' },
        onResponse: () => {},
      });
      for (const target of ['/broken', '/broken,broken?batch=1']) {
        const row: Row = { name: '', method: 'GET', target };
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        const { status, body } = await handle(requestOf(`/trpc${target}`, row, true));
        const hidden = { code: 'INTERNAL_SERVER_ERROR', httpStatus: 500 };
        expect([status, JSON.parse(body as string)]).toEqual([
          500,
          { error: { code: -32603, message: 'Internal server error', data: hidden } },
        ]);
      }
    },
  );
});

it('an error of a batch that alone is over maxResponseBytes leaves the results of the other calls', async () => {
  const t = initTRPC.create({ isDev: false });
  const fail = (length: number) =>
    t.procedure.query(() => {
      throw new TRPCError({ code: 'BAD_REQUEST', message: 'x'.repeat(length) });
    });
  const { fetch } = await createGateway({
    router: t.router({ huge: fail(9000), medium: fail(3000), ok: t.procedure.query(() => 'ok') }),
    createContext: () => ({}),
    document: { title: 'Errors', version: '0.0.0' },
    maxResponseBytes: 5000,
  });
  const resultsOf = async (paths: string) => {
    const response = await fetch(new Request(`http://localhost/trpc/${paths}?batch=1`));
    const results = (await response.json()) as {
      error?: { message: string; data: { httpStatus: number } };
    }[];
    return [
      response.status,
      results.map(({ error }) => error?.data.httpStatus ?? 200),
      results[0]?.error?.message,
    ];
  };
  const message = 'The error of this call is larger than 5000 bytes (maxResponseBytes).';
  expect(await resultsOf('huge,ok')).toEqual([207, [413, 200], message]);
  expect(await resultsOf('ok,medium,medium')).toEqual([207, [200, 400, 413], undefined]);
});
