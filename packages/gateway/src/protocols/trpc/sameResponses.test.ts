import { getErrorShape, getTRPCErrorFromUnknown, transformTRPCResponse, TRPCError } from '@trpc/server';
import { resolveResponse, type TRPCRequestInfo } from '@trpc/server/http';
import { sortedLines } from '@petstore/testing/jsonLines';
import { changedHeaders } from '@petstore/testing/olderTrpc';
import { expect, it } from 'vitest';
import type { createGateway } from '../../gateway.ts';
import { inProcessRequest } from '../../testing/inProcessRequest.ts';
import type { HttpRequest } from '../../http/request.ts';
import { headersOf, isBodyStream } from '../../http/response.ts';
import { rows, type Row } from './testing/comparedRequests.ts';
import {
  hasBatchIndex,
  routerOf,
  settings,
  shown,
  type Context,
  type Events,
  type Setting,
  type SettingName,
} from './testing/comparedRouter.ts';
import { testGateway } from '../../testing/testGateway.ts';

// Compares status, headers, body and arguments of callbacks with tRPC's `resolveResponse`, as standalone calls it.

interface Outcome {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly events: readonly string[];
}

function callbacks(setting: Setting, events: Events) {
  const { responseMeta, ...options } = setting.options ?? {};
  const calls = (info: TRPCRequestInfo | undefined) =>
    info?.calls.map((call) => [
      call.path,
      hasBatchIndex && call.batchIndex,
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
          events.push(['rawInput', shown(await call.getRawInput())]);
        }
      }
      if (setting.context === 'fails') throw new TypeError('No context');
      if (setting.context === 'forbids') throw new TRPCError({ code: 'FORBIDDEN', message: 'Not you' });
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

/** Returns a function that creates the router and the callbacks of one side, once for all rows of a setting. */
function createSides() {
  const create = (name: SettingName) => {
    const setting: Setting = settings[name];
    const events: Events = [];
    const basePath = setting.basePath ?? '/trpc';
    return { basePath, events, router: routerOf(setting), ...callbacks(setting, events) };
  };
  const sides = new Map<SettingName, ReturnType<typeof create>>();
  return (name: SettingName) => {
    const side = sides.get(name) ?? create(name);
    sides.set(name, side);
    side.events.length = 0;
    return side;
  };
}

const officialSide = createSides();
const gatewaySide = createSides();
const gateways = new Map<SettingName, ReturnType<typeof createGateway>>();

function gatewayOf(name: SettingName): ReturnType<typeof createGateway> {
  const { basePath, router, options, createContext, onError, responseMeta } = gatewaySide(name);
  const gateway =
    gateways.get(name) ??
    testGateway(router, {
      trpcBasePath: basePath,
      restBasePath: '/rest',
      createContext: ({ info }) => createContext(info as TRPCRequestInfo),
      maskUnexpectedErrors: false,
      trpc: { ...options, onError: onError as never, ...(responseMeta && { responseMeta }) },
      onResponse: () => {},
    });
  gateways.set(name, gateway);
  return gateway;
}

const trimSlashes = (path: string) => path.replace(/^\//, '').replace(/\/$/, '');

/** Returns the response of tRPC's standalone adapter (@trpc/server 11.25). */
async function official(name: SettingName, row: Row): Promise<Outcome> {
  const { basePath, events, router, options, createContext, onError, responseMeta } = officialSide(name);
  /** Reports an error as the adapter does, where an error of `onError` would end the process. Returns its properties. */
  const report = (cause: unknown) => {
    const error = getTRPCErrorFromUnknown(cause);
    const reported = { error, type: 'unknown', path: undefined, input: undefined, ctx: undefined } as const;
    try {
      onError(reported);
    } catch {}
    return reported;
  };
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
        ...(row.method !== 'GET' && row.method !== 'HEAD' && { body: Buffer.from(row.body ?? '') }),
      }),
      path: trimSlashes(trimSlashes(url.pathname).slice(trimSlashes(basePath).length)),
      error: null,
      createContext: ({ info }) => createContext(info),
      onError: onError as never,
    });
  } catch (cause) {
    const config = router._def._config;
    const shape = getErrorShape({ config, ...report(cause) });
    // Without a content type: encoded as bytes, since `Response` adds a type to strings.
    const body = new TextEncoder().encode(JSON.stringify(transformTRPCResponse(config, { error: shape })));
    response = new Response(body, { status: shape.data.httpStatus });
  }
  const body = await textOf(response.body ?? [], report);
  // A call that is still running after its response has failed reports its error later.
  await new Promise(setImmediate);
  return outcome(response.status, response.headers, body, events);
}

async function ours(name: SettingName, row: Row, hasBody: boolean): Promise<Outcome> {
  const { handle } = await gatewayOf(name);
  const { basePath, events } = gatewaySide(name);
  const target = `${basePath.replace(/\/$/, '')}${row.target}`;
  const response = await handle(requestOf(target, row, hasBody));
  const body = isBodyStream(response.body)
    ? await textOf(response.body)
    : Buffer.from(response.body ?? '').toString();
  return outcome(response.status, new Headers(headersOf(response) as [string, string][]), body, events);
}

/** Returns a stream's text; of a failing one the first line, as call order decides how many it has. */
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

/** @param hasBody whether the body has arrived with the head */
function requestOf(target: string, { method, headers = [], body = '' }: Row, hasBody: boolean): HttpRequest {
  const sent = [['host', 'localhost'], ...headers] as [string, string][];
  const bytes = Buffer.from(body);
  const request = inProcessRequest(method, target, sent, bytes);
  return hasBody ? Object.assign(request, { bodyNow: () => bytes }) : request;
}

/** Headers that only the gateway sets, or that belong to the connection. */
const ignoredHeaders = new Set([
  'connection',
  'transfer-encoding',
  'x-request-id',
  'x-content-type-options',
  'retry-after',
  ...changedHeaders,
]);

/** How many pings come between two events depends on how busy the machine is. */
const severalPings = /(event: ping\n.*\n+)(?:\1)+/g;

function outcome(status: number, headers: Headers, body: string, events: Events): Outcome {
  const compared = [...headers].filter(([name]) => !ignoredHeaders.has(name));
  return {
    status,
    headers: Object.fromEntries(
      compared.map(([name], index) => [`${name} ${index}`, compared[index]?.[1] ?? '']),
    ),
    // Sorted, since the order of concurrent calls is not specified.
    body:
      /^ *\{("json":\{)?"0":\[/.test(body) && body.endsWith('\n')
        ? sortedLines(body).join('\n')
        : body.replaceAll(severalPings, '$1'),
    events: events
      .map((event) => JSON.stringify(event, (_key, value: unknown) => withoutBigInt(value)))
      .toSorted(),
  };
}

const withoutBigInt = (value: unknown) =>
  typeof value === 'bigint' ? `${value}n` : value === undefined ? 'undefined' : value;

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
