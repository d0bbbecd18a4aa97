import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { bearer, createGateway } from 'trpc-gateway';
import { initTRPC, TRPCError } from '@trpc/server';
import { createHTTPServer } from '@trpc/server/adapters/standalone';
import { octetInputParser } from '@trpc/server/http';
import { changedHeaders } from '@petstore/testing/olderTrpc';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { skipIfDifferent } from '../adapterDifferences.ts';
import { sendOnce } from '../client.ts';
import { globalFetch } from '../fetch.ts';
import type { Server } from '../listen.ts';
import { needs, serve } from '../servers.ts';

// The gateway answers as tRPC's standalone adapter does. Each row is sent to both servers over a port as the same bytes: what
// is the same in process is compared by `sameResponses.test.ts` beside the protocol.

const t = initTRPC.create({ isDev: false });
const router = t.router({
  hello: t.procedure.query(() => 'world'),
  nothing: t.procedure.query(() => undefined),
  text: t.procedure.query(() => 'ü 🐶 \u2028 </script> "\\'),
  echo: t.procedure.input(z.unknown()).query(({ input }) => ({ input, type: typeof input })),
  write: t.procedure.input(z.object({ name: z.string() })).mutation(({ input }) => ({ id: 1, ...input })),
  touch: t.procedure.mutation(() => undefined),
  upload: t.procedure.input(z.instanceof(FormData)).mutation(({ input }) => [...input.keys()]),
  bytes: t.procedure
    .input(octetInputParser)
    .mutation(async ({ input }) => (await new Response(input).text()).length),
  conflict: t.procedure.query(() => {
    throw new TRPCError({ code: 'CONFLICT', message: 'Not now' });
  }),
});

/** One request that is sent to both servers. */
interface Row {
  readonly name: string;
  readonly method: string;
  /** The path below `/trpc`, with its leading slash, and the query. */
  readonly target: string;
  readonly headers?: Headers;
  readonly body?: string | Uint8Array;
  /** The limit of the body of both servers, in bytes. */
  readonly maxBytes?: number;
}

type Headers = readonly (readonly [name: string, value: string])[];
const type = (value: string): Headers => [['Content-Type', value]];
const json = type('application/json');
const multipart = type('multipart/form-data; boundary=x');
const octets = type('application/octet-stream');
const inputQuery = (input: unknown) => `input=${encodeURIComponent(JSON.stringify(input))}`;
const request = (method: string, name: string, target: string, headers: Headers = []): Row => ({
  name,
  method,
  target,
  headers,
});
const get = (name: string, target: string, headers: Headers = []) => request('GET', name, target, headers);
const post = (name: string, target: string, body: Row['body'], headers = json): Row => ({
  ...request('POST', name, target, headers),
  ...(body !== undefined && { body }),
});
const tooLarge = (row: Row): Row => ({ ...row, maxBytes: 100 });

const rows: readonly Row[] = [
  get('a query', '/hello'),
  get('a query that returns undefined', '/nothing'),
  get('a query that returns text beyond ASCII', '/text'),
  get('a query that fails', '/conflict'),
  get('an input with a raw plus, which is a space', '/echo?input=%22a+b%22'),
  get('an input beyond ASCII', `/echo?${inputQuery('ü🐶')}`),
  get('an input that is not valid percent-encoding', '/echo?input=%'),
  get('an input whose percent-encoding is not UTF-8', '/echo?input=%22%ff%22'),
  post('a mutation', '/write', '{"name":"Rex"}'),
  post('a mutation without input or output', '/touch', undefined),
  post('a mutation with an empty body', '/write', ''),
  post('a mutation whose body has a byte order mark', '/write', '\ufeff{"name":"Rex"}'),
  post('a mutation whose body is not UTF-8', '/write', Buffer.from('{"name":"\u00ff"}', 'latin1')),
  post('a mutation with a large body', '/write', JSON.stringify({ name: 'x'.repeat(200_000) })),
  post('a mutation whose input is in the query', `/write?${inputQuery({ name: 'Rex' })}`, undefined),
  post('a mutation of text', '/write', '{"name":"Rex"}', type('text/plain')),
  post('a mutation of JSON with white space', '/write', '{"name":"Rex"}', type(' application/json ; x=y')),
  post('a mutation without a media type', '/write', '{"name":"Rex"}', []),
  post('a mutation without a media type or a body', '/touch', undefined, []),
  get('a query of the media type of a form', '/hello', multipart),
  get('a query of the media type of bytes', '/hello', octets),
  post(
    'a form',
    '/upload',
    '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n',
    multipart,
  ),
  post('a form that is cut', '/upload', '--x\r\nContent-Disp', multipart),
  post('bytes', '/bytes', new Uint8Array(1000), octets),
  post('no bytes', '/bytes', '', octets),
  post('bytes for a procedure that takes JSON', '/write', new Uint8Array(10), octets),
  get('a batch in which one fails', '/hello,conflict?batch=1'),
  get('a batch of 100', `/${'hello,'.repeat(99)}hello?batch=1`),
  post('a batch of mutations without a body', '/touch,touch?batch=1', undefined),
  ...['PUT', 'PATCH', 'DELETE'].map((method) => ({
    name: `${method} of a query`,
    method,
    target: '/hello',
    headers: json,
    body: '{}',
  })),
  request('HEAD', 'HEAD of a query', '/hello'),
  request('HEAD', 'HEAD of a mutation', '/touch'),
  request('HEAD', 'HEAD of an unknown procedure', '/missing'),
  get('GET of a mutation', '/touch'),
  get('no procedure', ''),
  get('no procedure, with a slash', '/'),
  get('two slashes at the end', '/hello//'),
  get('two slashes in front', '//hello'),
  get('an encoded slash', '/x%2Fhello'),
  get('a path that is not valid percent-encoding', '/%zz'),
  get('a path whose percent-encoding is not UTF-8', '/%ff'),
  get('a dot segment', '/x/../hello'),
  get('a very long name', `/${'x'.repeat(2000)}`),
  get('an empty trpc-accept', '/hello', [['trpc-accept', '']]),
  get('a query whose Content-Type is sent twice', '/hello', [...json, ...type('text/plain')]),
  post('a mutation whose Content-Type is sent twice', '/write', '{"name":"Rex"}', [
    ...json,
    ...type('text/plain'),
  ]),
  get('a header beyond ASCII', '/hello', [['X-Name', 'a\u00fcb']]),
  get('a Last-Event-ID for a query', '/echo?input=5', [['Last-Event-ID', '7']]),
  tooLarge(post('a body too large', '/write', JSON.stringify({ name: 'x'.repeat(200) }))),
  tooLarge(post('a batch whose body is too large', '/write,write?batch=1', 'x'.repeat(200))),
  tooLarge(post('a body too large for a procedure that reads none', '/touch', 'x'.repeat(200))),
  tooLarge(post('a body too large for an unknown procedure', '/missing', 'x'.repeat(200))),
  tooLarge(post('bytes that are too many', '/bytes', new Uint8Array(200), octets)),
];

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

const pairs = new Map<number, Promise<Pair>>();
function pair(maxBytes = 1_048_576): Promise<Pair> {
  const started = pairs.get(maxBytes) ?? start(maxBytes);
  pairs.set(maxBytes, started);
  return started;
}

async function start(maxBytes: number, verify?: () => undefined): Promise<Pair> {
  const server = createHTTPServer({ router, basePath: '/trpc/', maxBodySize: maxBytes }).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  closeFunctions.push(() => server.close());
  const gateway = await createGateway({
    router,
    ...(verify && { authentication: bearer({ verify }) }),
    createContext: () => ({}),
    maskUnexpectedErrors: false,
    document: { title: 'Bytes', version: '0.0.0' },
    // Procedures fail on purpose: errors are not to be printed.
    onResponse: () => {},
    maxBodySize: maxBytes,
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
  it.each(rows)('the gateway answers as tRPC’s standalone adapter: $name', async (row) => {
    if (row.name.endsWith('a mutation whose Content-Type is sent twice')) {
      skipIfDifferent('a Content-Type that is sent twice');
    }
    const { official, ours } = await pair(row.maxBytes);
    const [expected, actual] = await Promise.all([send(official, row), send(ours, row)]);
    for (const name of changedHeaders) for (const { headers } of [actual, expected]) delete headers[name];
    expect(actual).toEqual(withRetryAfter(expected));
  });
});

describe('docs/gateway/trpc.md#what-differs-from-trpcs-own-adapters: tRPC over HTTP', () => {
  it.each(['/hello', '/hello,conflict?batch=1', '/missing', '/touch'])(
    'GET %s without a credential is answered with 401 and one unbatched envelope, because the gateway checks the credential first',
    async (target) => {
      const { ours } = await start(1_048_576, () => undefined);
      const response = await send(ours, get('', target));
      expect(response.status).toBe(401);
      expect(response.headers).toMatchObject({ 'www-authenticate': 'Bearer realm="api"' });
      expect(JSON.parse(response.body)).toMatchObject({
        error: { code: -32001, data: { code: 'UNAUTHORIZED', httpStatus: 401 } },
      });
    },
  );

  it('an invalid Host is answered with 400 (RFC 9112 §3.2), where tRPC’s adapter makes it part of the URL', async () => {
    needs('a port');
    const { official, ours } = await pair();
    const row: Row = { name: 'Host', method: 'GET', target: '/hello', headers: [['Host', 'a/trpc/add?']] };
    expect(await send(official, row)).toMatchObject({ status: 200 });
    expect(await send(ours, row)).toMatchObject({ status: 400 });
  });

  it.each([
    ['TRACE', 500],
    ['PROPFIND', 415],
  ])('%s is answered with 405 and Allow, where tRPC’s adapter answers with %i', async (method, status) => {
    const { official, ours } = await pair();
    const row: Row = { name: method, method, target: '/hello' };
    expect(await send(official, row)).toMatchObject({ status });
    expect(await send(ours, row)).toMatchObject({
      status: 405,
      headers: { allow: 'GET, POST, HEAD, OPTIONS', 'content-type': 'application/json' },
    });
  });

  it('OPTIONS is answered with 204 and Allow, where tRPC’s adapter answers with 415', async () => {
    const { official, ours } = await pair();
    const row: Row = { name: 'OPTIONS', method: 'OPTIONS', target: '/hello' };
    expect(await send(official, row)).toMatchObject({ status: 415 });
    expect(await send(ours, row)).toEqual({
      status: 204,
      headers: { allow: 'GET, POST, HEAD, OPTIONS' },
      body: '',
    });
  });
});
