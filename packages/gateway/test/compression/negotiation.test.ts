import { requestOf } from '@petstore/testing/mcpMessages';
import { expect, it } from 'vitest';
import { decode, sendRaw, startCompressed } from './startCompressed.ts';

const all = 'gzip, deflate, br, zstd';
const animals = '/v1/animals';
const vary = 'Accept-Encoding';

type Coding = 'br' | 'gzip' | 'zstd' | null;

it.each<[section: string, rule: string, accepted: string | undefined, coding: Coding]>([
  ['§8.4.1.3', 'x-gzip is gzip', 'x-gzip', 'gzip'],
  ['§8.4.1', 'deflate is not served', 'deflate', null],
  ['§12.5.3', 'without the field, any coding is acceptable, so none is used', undefined, null],
  ['§12.5.3', 'an empty field accepts no coding', '', null],
  ['§12.5.3', 'of codings that are accepted equally, the server chooses', all, 'zstd'],
  ['§12.4.2', 'the highest weight is preferred', 'gzip;q=1.0, br;q=0.5, zstd;q=0.4', 'gzip'],
  ['§12.4.2', 'a weight of 0 excludes one coding', 'zstd;q=0, br;q=0, gzip', 'gzip'],
  ['§12.5.3', '* is every coding', '*', 'zstd'],
  ['§12.5.3', 'identity with a higher weight is preferred', 'identity, gzip;q=0.5', null],
  ['§12.5.3', 'unknown codings are ignored', 'aes128gcm, compress, gzip', 'gzip'],
  ['§12.4.1', 'the field is disregarded if all is excluded', '*;q=0', null],
  ['§12.4.2', 'an invalid weight is not acceptable', 'gzip;q=much', null],
])('RFC 9110 %s: %s (%s)', async (_section, _rule, accepted, coding) => {
  const server = await startCompressed();
  const headers: Record<string, string> = accepted === undefined ? {} : { 'accept-encoding': accepted };
  const response = await sendRaw(server, animals, { headers });
  expect([response.status, response.headers.get('content-encoding')]).toEqual([200, coding]);
  expect(response.headers.get('vary')).toBe(vary);
  expect(JSON.parse(decode(response.bytes, coding))).toHaveLength(100);
  expect(response.headers.get('content-length') ?? response.bytes.length.toString()).toBe(
    String(response.bytes.length),
  );
});

interface More {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly status?: number;
  /** Default: `Accept-Encoding` if it has a coding. */
  readonly vary?: string | null;
  readonly sent?: Readonly<Record<string, string | null>>;
}

const batchOf = (calls: string) => `/trpc/${calls}?batch=1&input=${encodeURIComponent('{"0":{},"1":{}}')}`;
const post = { method: 'POST', headers: { 'content-type': 'application/json' } };
const create = { ...post, body: JSON.stringify({ text: 'pets '.repeat(500) }), status: 201 };
const weak = { etag: 'W/"1"' };
const message = (name: string, args: object = {}) => requestOf('tools/call', { name, arguments: args });

it.each<[section: string, rule: string, target: string, coding: Coding, more?: More]>([
  ['§15.3.1', '200 over REST', animals, 'zstd'],
  ['§15.3.2', '201 over REST', animals, 'zstd', create],
  ['§15.3.1', '200 over tRPC', '/trpc/list', 'zstd'],
  ['§15.3.1', 'a tool over MCP', '/mcp', 'zstd', message('list')],
  ['§15.3.1', 'a route', '/page', 'zstd'],
  ['§15.3.1', 'the OpenAPI document', '/openapi.json', 'zstd'],
  ['§15.3.1', 'a stream of bytes', '/v1/csv', 'zstd'],
  ['§15.3.1', 'events over REST', '/v1/ticks?count=3', 'zstd'],
  ['§15.3.1', 'events over tRPC', '/trpc/ticks?input={"count":3}', 'zstd'],
  ['§15.3.1', 'events over MCP', '/mcp', 'zstd', message('ticks', { count: 3 })],
  ['§15.3.1', 'a body beyond 64 KiB', '/large', 'zstd'],
  ['§15.3.5', '204 has no content', animals, null, { method: 'DELETE', status: 204 }],
  ['§15.3.5', 'OPTIONS has no content', animals, null, { method: 'OPTIONS', status: 204 }],
  [
    '§15.3.7',
    '206 has a range of the bytes as they are',
    '/partial',
    null,
    { headers: { range: 'bytes=0-4999' }, status: 206 },
  ],
  ['§14.2', 'a Range that is ignored', '/page', 'zstd', { headers: { range: 'bytes=0-9' } }],
  ['§14.3', 'the encoded bytes have no ranges', '/tagged', 'zstd', { sent: { 'accept-ranges': null } }],
  [
    '§15.4.5',
    '304 has the weak ETag and the Vary of the 200 that was compressed',
    '/tagged',
    null,
    { headers: { 'if-none-match': 'W/"0", W/"1"' }, status: 304, vary, sent: weak },
  ],
  [
    '§15.4.5',
    '304 has the strong ETag and the Vary of the 200 that was not compressed',
    '/tagged',
    null,
    {
      headers: { 'accept-encoding': 'identity', 'if-none-match': '"1"' },
      status: 304,
      vary,
      sent: { etag: '"1"' },
    },
  ],
  ['§15.5.5', '404 with a long body', '/missing', 'zstd', { status: 404 }],
  ['§15.5.5', '404 with a short body', '/nowhere', null, { status: 404 }],
  ['§8.8.3.3', 'a strong ETag becomes weak', '/tagged', 'zstd', { sent: weak }],
  ['§8.8.3.3', 'a weak ETag stays', '/weak', 'zstd', { sent: weak }],
  [
    '§8.8.3.3',
    'a strong ETag of what is not encoded stays',
    '/tagged',
    null,
    { headers: { 'accept-encoding': 'identity' }, vary, sent: { etag: '"1"', 'accept-ranges': 'bytes' } },
  ],
  ['§8.4', 'content that has a coding gets no other', '/encoded', 'gzip', { vary: null }],
  ['RFC 9530 §3', 'content with a digest stays', '/digest', null],
  ['§7.7', 'no-transform of a procedure is respected', '/v1/fixed', null],
  ['§8.4', 'a media type that is compressed already', '/v1/image', null],
  ['§8.3', 'content without a type', '/untyped', null],
  ['§12.5.5', 'Vary is extended', '/varied', 'zstd', { vary: 'Accept-Language, Accept-Encoding' }],
  ['§12.5.5', 'Vary has a name once', '/varied-already', 'zstd', { vary: 'accept-encoding, Accept' }],
  ['§12.5.5', 'Vary: * stays', '/varied-by-all', 'zstd', { vary: '*' }],
  ['§9.3.2', 'HEAD of a route has the header of GET', '/tagged', 'zstd', { method: 'HEAD', sent: weak }],
  ['§9.3.2', 'HEAD of a stream', '/v1/csv', 'zstd', { method: 'HEAD' }],
  ['§8.4', 'a body of 1,024 bytes', '/v1/text?bytes=1024', 'zstd'],
  ['§8.4', 'a body of 1,023 bytes is too small', '/v1/text?bytes=1023', null],
  ['BREACH', 'a procedure with compression: false', '/v1/secret', null],
  ['BREACH', 'a tool with compression: false', '/mcp', null, message('secret')],
  ['BREACH', 'a batch with a call that has compression: false', batchOf('list,secret'), null],
  [
    'BREACH',
    'a batch that sets a cookie, of which the first call has compression: true',
    batchOf('signInCompressed,signIn'),
    null,
  ],
  [
    'BREACH',
    'a batch that sets a cookie, of which the last call has compression: true',
    batchOf('list,signInCompressed'),
    null,
  ],
  [
    'BREACH',
    'a batch that sets cookies, of which each call has compression: true',
    batchOf('signInCompressed,signInCompressed'),
    'zstd',
  ],
  ['BREACH', 'a response that sets a cookie', '/v1/sign-in', null],
  ['BREACH', 'a response that sets a cookie, with compression: true', '/v1/sign-in-compressed', 'zstd'],
])('RFC 9110 %s: %s (%s)', async (_section, _rule, target, coding, more = {}) => {
  const { body, headers, method, sent = {}, status = 200 } = more;
  const { vary: varies = coding === null ? null : vary } = more;
  const server = await startCompressed();
  const init = {
    ...(method !== undefined && { method }),
    ...(body !== undefined && { body }),
    headers: { 'accept-encoding': all, ...headers },
  };
  const encoded = await sendRaw(server, target, init);
  expect([encoded.status, encoded.headers.get('content-encoding')]).toEqual([status, coding]);
  const plain = await sendRaw(await startCompressed({ compression: false }), target, init);
  expect(decode(encoded.bytes, method === 'HEAD' ? null : coding)).toEqual(
    decode(plain.bytes, plain.headers.get('content-encoding')),
  );
  const before = plain.headers.get('vary');
  const isAdded = varies === vary && before !== null;
  expect(encoded.headers.get('vary')).toBe(isAdded ? `${before}, ${vary}` : (varies ?? before));
  const names = Object.keys(sent);
  expect(Object.fromEntries(names.map((name) => [name, encoded.headers.get(name)]))).toEqual(sent);
  if (method !== 'HEAD') return;
  const get = await sendRaw(server, target, { ...init, method: 'GET' });
  const comparable = (from: Headers) =>
    [...from].filter(
      ([name]) =>
        !/^(?:connection|date|keep-alive|x-request-id|transfer-encoding|content-length)$/.test(name),
    );
  expect(comparable(encoded.headers)).toEqual(comparable(get.headers));
});

it('Vary has Origin and Accept-Encoding, once each, for pages of allowed and of other origins', async () => {
  const server = await startCompressed({ cors: { origins: ['https://pets.example'] } });
  for (const origin of ['https://pets.example', 'https://other.example', undefined]) {
    for (const target of [animals, '/trpc/list', '/page', '/v1/ticks?count=1']) {
      const headers = { 'accept-encoding': 'gzip', ...(origin !== undefined && { origin }) };
      const response = await sendRaw(server, target, { headers });
      const names = response.headers.get('vary')?.split(/, ?/) ?? [];
      const own = target.startsWith('/trpc') ? ['accept', 'trpc-accept'] : [];
      expect(names.toSorted()).toEqual(['Accept-Encoding', 'Origin', ...own]);
    }
  }
});

it('a response to the OpenAPI document is encoded once, and is the same for each client', async () => {
  const server = await startCompressed();
  const send = () => sendRaw(server, '/openapi.json', { headers: { 'accept-encoding': 'br' } });
  const [first, second] = [await send(), await send()];
  expect(first.bytes).toEqual(second.bytes);
  expect(JSON.parse(decode(first.bytes, 'br'))).toMatchObject({ openapi: '3.1.0' });
});

it('bodies beyond ASCII are measured in bytes and arrive unchanged', async () => {
  const server = await startCompressed();
  const text = 'äöü€'.repeat(120);
  const response = await sendRaw(server, animals, {
    ...post,
    headers: { ...post.headers, 'accept-encoding': 'gzip' },
    body: JSON.stringify({ text }),
  });
  expect(response.headers.get('content-encoding')).toBe('gzip');
  expect(JSON.parse(decode(response.bytes, 'gzip'))).toBe(text);
});
