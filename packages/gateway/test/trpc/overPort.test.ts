import { changedHeaders } from '@petstore/testing/olderTrpc';
import { expect, it } from 'vitest';
import { skipIfDifferent } from '../adapterDifferences.ts';
import { sendOnce } from '../client.ts';
import { startService } from '../startService.ts';
import { serveGateway } from './gatewayServer.ts';
import { serveOfficial } from './officialServer.ts';
import { startWith, type Running } from './start.ts';

// The gateway answers as tRPC's standalone adapter does. Each row is sent to both servers over a port as the same bytes. It
// has what adapters read or write: `sameResponses.test.ts` beside the protocol compares the rest in process.

/** One request that is sent to both servers. */
interface Row {
  readonly name: string;
  readonly method: string;
  /** The path below `/trpc`, with its leading slash, and the query. */
  readonly target: string;
  readonly headers?: Headers;
  readonly body?: string | Uint8Array;
  /** The limit of the body of both servers, in bytes. */
  readonly maxBodySize?: number;
}

type Headers = readonly (readonly [name: string, value: string])[];
const type = (value: string): Headers => [['Content-Type', value]];
const json = type('application/json');
const octets = type('application/octet-stream');
const inputQuery = (input: unknown) => `input=${encodeURIComponent(JSON.stringify(input))}`;
const get = (name: string, target: string, headers: Headers = []): Row => ({
  name,
  method: 'GET',
  target,
  headers,
});
const post = (name: string, target: string, body: Row['body'], headers = json): Row => ({
  name,
  method: 'POST',
  target,
  headers,
  ...(body !== undefined && { body }),
});
const tooLarge = (row: Row): Row => ({ ...row, maxBodySize: 100 });

const rows: readonly Row[] = [
  get('a query beyond ASCII', `/hello?${inputQuery({ name: 'ü 🐶 \u2028' })}`),
  get('a query that returns undefined', '/nothing'),
  post('a mutation', '/write', '{"name":"Rex"}'),
  post('a mutation without input or output', '/touch', undefined),
  post('a mutation with an empty body', '/write', ''),
  post('a mutation whose body is not UTF-8', '/write', Buffer.from('{"name":"\u00ff"}', 'latin1')),
  post('a mutation with a large body', '/write', JSON.stringify({ name: 'x'.repeat(200_000) })),
  post('a mutation whose input is in the query', `/write?${inputQuery({ name: 'Rex' })}`, undefined),
  post('a mutation of JSON with white space', '/write', '{"name":"Rex"}', type(' application/json ; x=y')),
  post('a mutation without a media type or a body', '/touch', undefined, []),
  post(
    'a form',
    '/upload',
    '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n',
    type('multipart/form-data; boundary=x'),
  ),
  post('bytes', '/bytes', new Uint8Array(1000), octets),
  post('no bytes', '/bytes', '', octets),
  { name: 'PUT of a query', method: 'PUT', target: '/hello', headers: json, body: '{}' },
  { name: 'HEAD of a query', method: 'HEAD', target: '/hello' },
  get('no procedure', ''),
  get('a path whose percent-encoding is not UTF-8', '/%ff'),
  get('an empty trpc-accept', '/hello', [['trpc-accept', '']]),
  get('a query whose Content-Type is sent twice', '/hello', [...json, ...type('text/plain')]),
  post('a mutation whose Content-Type is sent twice', '/write', '{"name":"Rex"}', [
    ...json,
    ...type('text/plain'),
  ]),
  get('a header beyond ASCII', '/hello', [['X-Name', 'a\u00fcb']]),
  tooLarge(post('a body too large', '/write', JSON.stringify({ name: 'x'.repeat(200) }))),
  tooLarge(post('a batch whose body is too large', '/write,write?batch=1', 'x'.repeat(200))),
  tooLarge(post('a body too large for a procedure that reads none', '/touch', 'x'.repeat(200))),
  tooLarge(post('a body too large for an unknown procedure', '/missing', 'x'.repeat(200))),
  tooLarge(post('bytes that are too many', '/bytes', new Uint8Array(200), octets)),
];

/** Headers of a server or a connection, which are not compared, and those that versions of tRPC differ in. */
const serverHeaders = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'transfer-encoding',
  'uwebsockets',
  'x-request-id',
  ...changedHeaders,
]);

async function send({ server }: Running, { method, target, headers = [], body }: Row) {
  const bytes = body === undefined ? undefined : Buffer.from(body);
  const response = await sendOnce(server, method, `/trpc${target}`, headers, bytes);
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers.filter(([name]) => !serverHeaders.has(name))),
    body: response.body.toString('latin1'),
  };
}

const startOfficial = startWith(serveOfficial);
const startGateway = startWith(serveGateway);

it.each(rows)('the gateway answers as tRPC’s standalone adapter: $name', async (row) => {
  if (row.name === 'a mutation whose Content-Type is sent twice') {
    skipIfDifferent('a Content-Type that is sent twice');
  }
  const { maxBodySize = 1_048_576 } = row;
  const [official, gateway] = await Promise.all([
    startOfficial({ maxBodySize }),
    startGateway({ maxBodySize }),
  ]);
  expect(await send(gateway, row)).toEqual(await send(official, row));
});

// docs/gateway/trpc.md#what-differs-from-trpcs-own-adapters
it.each(['/trpc/list', '/trpc/list,broken?batch=1'])(
  'GET %s without a credential is answered with 401 and one unbatched envelope, because the gateway checks the credential first',
  async (target) => {
    const { send: sendTo } = await startService();
    const response = await sendTo(target, { headers: { authorization: '' } });
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="api"']);
    expect(await response.json()).toMatchObject({
      error: { code: -32001, data: { code: 'UNAUTHORIZED', httpStatus: 401 } },
    });
  },
);

it.each([
  ['TRACE', 500],
  ['PROPFIND', 415],
])('%s is answered with 405 and Allow, where tRPC’s adapter answers with %i', async (method, status) => {
  const row: Row = { name: method, method, target: '/hello' };
  expect(await send(await startOfficial(), row)).toMatchObject({ status });
  expect(await send(await startGateway(), row)).toMatchObject({
    status: 405,
    headers: { allow: 'GET, POST, HEAD, OPTIONS', 'content-type': 'application/json' },
  });
});
