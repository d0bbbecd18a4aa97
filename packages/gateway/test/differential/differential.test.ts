import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { createGateway } from 'trpc-gateway';
import { TRPCError } from '@trpc/server';
import { createHTTPServer } from '@trpc/server/adapters/standalone';
import type { TRPCRequestInfo } from '@trpc/server/http';
import { afterAll, describe, expect, it } from 'vitest';
import { skipIfDifferent } from '../adapterDifferences.ts';
import { sendOnce } from '../client.ts';
import { globalFetch } from '../fetch.ts';
import type { Server } from '../listen.ts';
import { needs, serve } from '../servers.ts';
import { type Context, differentialRouter } from './router.ts';
import { type Row, rows, type ServerOption } from './rows.ts';
import { bearer } from 'trpc-gateway';

// The gateway answers as tRPC's standalone adapter does. Each row is sent to both servers over a port as the same bytes.

/** The address of a server under test. */
type Subject = Pick<Server, 'port' | 'origin' | 'fetch'>;

interface Pair {
  readonly official: Subject;
  readonly ours: Subject;
}

const closeFunctions: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closeFunctions) await close();
});

const contextOf =
  (setting: ServerOption | undefined) =>
  (info: TRPCRequestInfo | undefined): Context => {
    if (setting === 'contextFails') throw new TRPCError({ code: 'FORBIDDEN', message: 'No context for you' });
    if (setting === 'contextThrows') throw new Error('The context broke');
    return {
      batch: info?.isBatchCall ?? false,
      calls: info?.calls.map(({ path }) => path) ?? [],
      // Without the port, which differs.
      url: info?.url && `${info.url.hostname}${info.url.pathname}${info.url.search}`,
    };
  };

const adapterOptions = {
  maxBatchSize: { maxBatchSize: 2 },
  noBatching: { allowBatching: false },
  methodOverride: { allowMethodOverride: true },
  responseMeta: {
    responseMeta: ({
      errors,
      paths,
    }: {
      errors: readonly Error[];
      paths: readonly string[] | undefined;
    }) => ({
      status: errors.length > 0 ? 418 : 202,
      headers: new Headers([
        ['cache-control', 'max-age=1'],
        ['x-paths', (paths ?? []).join(' ')],
      ]),
    }),
  },
} as const;

const pairs = new Map<ServerOption | undefined, Promise<Pair>>();
function pair(setting: ServerOption | undefined): Promise<Pair> {
  const existing = pairs.get(setting);
  if (existing) return existing;
  const started = start(setting);
  pairs.set(setting, started);
  return started;
}

async function start(setting: ServerOption | undefined, verify?: () => undefined): Promise<Pair> {
  const createContext = contextOf(setting);
  const options =
    setting !== undefined && setting in adapterOptions
      ? adapterOptions[setting as keyof typeof adapterOptions]
      : {};
  const maxBytes = setting === 'smallBodies' ? 100 : 1_048_576;
  const server = createHTTPServer({
    router: differentialRouter,
    basePath: '/trpc/',
    createContext: ({ info }) => createContext(info),
    maxBodySize: maxBytes,
    ...options,
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeFunctions.push(() => server.close());

  const gateway = await createGateway({
    router: differentialRouter,
    ...(verify && { authentication: bearer({ verify }) }),
    createContext: ({ info }) => createContext(info),
    document: { title: 'Differential', version: '0.0.0' },
    // Procedures fail on purpose: errors are not to be printed.
    onResponse: () => {},
    maxBodyBytes: maxBytes,
    trpc: options,
  });
  const ours = await serve(gateway);
  closeFunctions.push(() => ours.close());
  const { port } = server.address() as AddressInfo;
  return { official: { port, origin: `http://127.0.0.1:${port}`, fetch: globalFetch }, ours };
}

/** Headers of a server or a connection, which are not compared. */
const serverHeaders = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
  'uwebsockets',
  'x-request-id',
]);

/** Sends a row: as the same bytes to a server with a port, as a `Request` to one in this process. */
async function send(to: Subject, { method, target, headers = [], body }: Row) {
  const host = headers.some(([name]) => name === 'Host') ? [] : [['Host', 'localhost'] as const];
  if (to.fetch !== globalFetch) {
    const bytes = body === undefined ? undefined : Buffer.from(body);
    const response = await sendOnce(to, method, `/trpc${target}`, [...host, ...headers], bytes);
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers.filter(([name]) => !serverHeaders.has(name))),
      body: response.body.toString('latin1'),
    };
  }
  const length = body === undefined ? [] : ['Content-Length', String(Buffer.byteLength(body))];
  const outgoing = httpRequest({
    port: to.port,
    host: '127.0.0.1',
    method,
    path: `/trpc${target}`,
    agent: false,
    headers: [...host.flat(), 'Connection', 'close', ...headers.flat(), ...length],
  });
  outgoing.end(body);
  const [incoming] = await once(outgoing, 'response');
  const received = await buffer(incoming);
  const comparedHeaders = Object.entries(incoming.headers as Record<string, string>).filter(
    ([name]) => !serverHeaders.has(name),
  );
  return {
    status: incoming.statusCode as number,
    headers: Object.fromEntries(comparedHeaders),
    body: received.toString('latin1'),
  };
}

/** Adds the Retry-After that the gateway adds to a 503 and a 429. */
const withRetryAfter = ({ status, headers, body }: Awaited<ReturnType<typeof send>>) => ({
  status,
  headers: status === 503 || status === 429 ? { ...headers, 'retry-after': '1' } : headers,
  body,
});

describe('responses over tRPC', () => {
  it('the differential suite has at least 150 requests with unique names', () => {
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
    expect(rows.length).toBeGreaterThanOrEqual(150);
  });

  it.each(rows)('the gateway answers as tRPC’s standalone adapter: $name', async (row) => {
    if (row.name.endsWith('a mutation whose Content-Type is sent twice')) {
      skipIfDifferent('a Content-Type that is sent twice');
    }
    const { official, ours } = await pair(row.option);
    const [expected, actual] = await Promise.all([send(official, row), send(ours, row)]);
    expect(actual).toEqual(withRetryAfter(expected));
  });
});

describe('docs/gateway/trpc.md#what-differs-from-trpcs-own-adapters: tRPC over HTTP', () => {
  const named = (names: RegExp) =>
    rows.filter(({ name, option }) => option === undefined && names.test(name));

  it.each(named(/^(a query without input|a batch of two|an unknown procedure|GET of a mutation)$/))(
    '$name without a credential is answered with 401 and one unbatched envelope, because the gateway checks the credential first',
    async (row) => {
      const { ours } = await start(undefined, () => undefined);
      const response = await send(ours, row);
      expect(response.status).toBe(401);
      expect(response.headers).toMatchObject({ 'www-authenticate': 'Bearer realm="api"' });
      expect(JSON.parse(response.body)).toMatchObject({
        error: { code: -32001, data: { code: 'UNAUTHORIZED', httpStatus: 401 } },
      });
    },
  );

  it('an invalid Host is answered with 400 (RFC 9112 §3.2), where tRPC’s adapter makes it part of the URL', async () => {
    needs('a port');
    const { official, ours } = await pair(undefined);
    const row: Row = { name: 'Host', method: 'GET', target: '/hello', headers: [['Host', 'a/trpc/add?']] };
    expect(await send(official, row)).toMatchObject({ status: 200 });
    expect(await send(ours, row)).toMatchObject({ status: 400 });
  });

  it.each([
    ['TRACE', 500],
    ['PROPFIND', 415],
  ])('%s is answered with 405 and Allow, where tRPC’s adapter answers with %i', async (method, status) => {
    const { official, ours } = await pair(undefined);
    const row: Row = { name: method, method, target: '/hello' };
    expect(await send(official, row)).toMatchObject({ status });
    expect(await send(ours, row)).toMatchObject({
      status: 405,
      headers: { allow: 'GET, POST, HEAD, OPTIONS', 'content-type': 'application/json' },
    });
  });

  it('OPTIONS is answered with 204 and Allow, where tRPC’s adapter answers with 415', async () => {
    const { official, ours } = await pair(undefined);
    const row: Row = { name: 'OPTIONS', method: 'OPTIONS', target: '/hello' };
    expect(await send(official, row)).toMatchObject({ status: 415 });
    expect(await send(ours, row)).toEqual({
      status: 204,
      headers: { allow: 'GET, POST, HEAD, OPTIONS' },
      body: '',
    });
  });
});
