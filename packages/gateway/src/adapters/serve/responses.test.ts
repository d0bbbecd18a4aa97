import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { Header, HttpResponse } from '../../http/response.ts';
import type { Handle } from '../../http/service.ts';
import { createFetch } from '../fetch/fetch.ts';
import { adapters, dial, ok, streamOf, until } from '../testing/dial.ts';
import { handshake } from '../testing/sockets.ts';

const stream = () => streamOf('str', 'eam');

/** Creates a body, and its text. A body that is created again can be sent again. */
const bodies: Readonly<Record<string, readonly [create: () => HttpResponse['body'], text: string]>> = {
  'no body': [() => undefined, ''],
  'an empty body': [() => '', ''],
  'ASCII text': [() => 'hello', 'hello'],
  'text beyond ASCII': [() => 'aä', 'aä'],
  bytes: [() => new Uint8Array([104, 105]), 'hi'],
  'large text': [() => 'ä'.repeat(70_000), 'ä'.repeat(70_000)],
  'a stream': [stream, 'stream'],
};

const rows = [200, 201, 204, 205, 304, 404].flatMap((status) =>
  ['GET', 'HEAD', 'POST'].flatMap((method) =>
    Object.entries(bodies).flatMap(([kind, [create, text]]) => {
      const hasNoLength = status === 204 || status === 304;
      const isEmpty = hasNoLength || status === 205;
      const isStream = kind === 'a stream';
      return ['at once', 'later'].map((time) => ({
        name: `${method} ${status} with ${kind}, ${time}`,
        method,
        status,
        create,
        isAtOnce: time === 'at once',
        // RFC 9110 §9.3.2 (HEAD), §15.3.5, §15.3.6, §15.4.5
        body: isEmpty || method === 'HEAD' ? '' : text,
        // RFC 9110 §8.6. The length of a stream is unknown; a 205 has 0, as its status does not end it (RFC 9112 §6.3).
        length: hasNoLength || (isStream && !isEmpty) ? undefined : Buffer.byteLength(isEmpty ? '' : text),
        isStreamed: isStream && !isEmpty,
      }));
    }),
  ),
);

/** Serves the response of the row in the path. */
const handle: Handle = ({ path }) => {
  const row = rows[Number(path.slice(1))];
  if (!row) return ok('next');
  const response = { status: row.status, headers: [], body: row.create() };
  return row.isAtOnce ? response : Promise.resolve(response);
};

/** A response, as Node's strict parser reads it from a connection that stays open. */
async function receive(agent: Agent, port: number, method: string, path: string) {
  const sent = httpRequest({ agent, host: '127.0.0.1', port, method, path }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const { rawHeaders, statusCode } = response;
  const valuesOf = (name: string) =>
    rawHeaders.filter((_value, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
  return { body: await readText(response), isReused: sent.reusedSocket, status: statusCode, valuesOf };
}

describe.each(adapters)('on $adapter', ({ adapter, listen }) => {
  it('the framing of a response fits its status, method and body, and the connection serves the next request', async () => {
    const { port } = await listen(handle);
    for (const [index, row] of rows.entries()) {
      const { name, method, status, body, isStreamed } = row;
      // Bun sends a stream that is complete at once with its length, and a stream that HEAD leaves out with the length 0.
      const length = isStreamed && adapter === 'Bun' ? body.length : row.length;
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const received = await receive(agent, port, method, `/${index}`);
      const next = await receive(agent, port, 'GET', '/next');
      agent.destroy();
      expect({
        name,
        status: received.status,
        lengths: received.valuesOf('content-length').map(Number),
        codings: received.valuesOf('transfer-encoding'),
        // RFC 9110 §6.6.1
        dates: received.valuesOf('date').filter((date) => date.endsWith(' GMT')).length,
        body: received.body,
        next: [next.isReused, next.status, next.body],
      }).toEqual({
        name,
        status,
        lengths: length === undefined ? [] : [length],
        codings: isStreamed && method !== 'HEAD' && adapter !== 'Bun' ? ['chunked'] : [],
        dates: 1,
        body,
        // Node's client opens another connection after a HEAD that has no length.
        next: [!(isStreamed && method === 'HEAD') || adapter === 'Bun', 200, 'next'],
      });
    }
  });

  it('each response to a request with Connection: close has this header, once (RFC 9112 §9.6)', async () => {
    const listening = await listen({
      handle: (request) => {
        if (request.path === '/throws') throw new Error('expected');
        return handle(request);
      },
      upgrade: ({ path }) => ({ ...ok(path), status: 401 }),
    });
    const values = ['close', 'Close', 'keep-alive, Close', 'close\r\nConnection: keep-alive'];
    const endings = values.map((value) => `HTTP/1.1\r\nHost: x\r\nConnection: ${value}\r\n`);
    const [closing = ''] = endings;
    const requests = [
      ...rows.map(({ method }, index) => {
        const framing = method === 'POST' ? 'Content-Length: 0\r\n' : '';
        return `${method} /${index} ${endings[index % 3]}${framing}`;
      }),
      ...endings.map((ending) => `POST /0 ${ending}Content-Length: 2\r\n\r\n{}`),
      ...endings.map((ending) => `POST /0 ${ending}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n`),
      `POST /0 ${closing}Content-Length: 3000000\r\n`,
      `GET /throws ${closing}`,
      `GET / ${closing.replace('x', 'a/b')}`,
      `GET /${'x'.repeat(20_000)} ${closing}`,
      handshake.replace('Connection: Upgrade', 'Connection: Upgrade, close'),
    ];
    const wrong: string[] = [];
    for (const bytes of requests) {
      const { socket, text } = await dial(listening, `${bytes}\r\n`);
      await until(() => expect(text()).toContain('\r\n\r\n'));
      const [head = ''] = text().split('\r\n\r\n');
      const found = [...head.matchAll(/\r\nconnection: (.*)/gi)].map(([, value]) => value);
      if (found.join(' and ') !== 'close') wrong.push(`${bytes.slice(0, 200)}: ${head.slice(0, 300)}`);
      socket.destroy();
    }
    expect(wrong).toEqual([]);
  });
});

const own: Header = ['x-own', 'own'];
const cookies: readonly Header[] = ['a=1', 'b=2'].map((value): Header => ['set-cookie', value]);
/** The own headers of responses with the same shared headers, and all that are received; none if they are invalid. */
const ownHeaders: readonly (readonly [path: string, own: readonly Header[], received: readonly Header[]])[] =
  [
    ['/own', [own], [own]],
    ['/cookies', cookies, cookies],
    ['/shared-name', [['link', '<b>']], [['link', '<a>, <b>']]],
    ['/invalid', [own, ['x-broken', 'a\r\nb']], []],
    ['/none', [], []],
  ];
const texts = (headers: readonly (readonly string[])[]) =>
  headers.map((header) => header.join(': ')).toSorted();
const sharedHeaders = [
  ['x-shared', 'shared'],
  ['link', '<a>'],
] as const;
const withShared: Handle = ({ path }) => ({
  ...ok(path === '/own' ? stream() : 'x'),
  sharedHeaders,
  headers: ownHeaders.find(([name]) => name === path)?.[1] ?? [],
});

/** How a service is called: through each adapter, and in process. */
const callers = [
  ...adapters.map(({ adapter, listen }) => ({
    adapter,
    start: async (served: Handle) => {
      const { port } = await listen(served);
      return (path: string, method = 'GET') => fetch(`http://127.0.0.1:${port}${path}`, { method });
    },
  })),
  {
    adapter: 'gateway.fetch',
    start: async (served: Handle) => {
      const inProcess = createFetch({ handle: served });
      return (path: string, method = 'GET') => inProcess(`http://x${path}`, { method });
    },
  },
];

describe.each(callers)('with $adapter', ({ start }) => {
  it('a response with shared headers has its own headers and no others', async () => {
    const send = await start(withShared);
    for (const method of ['GET', 'HEAD']) {
      for (const [path, sent, received] of ownHeaders) {
        const { headers, status } = await send(path, method);
        const names = new Set(['x-shared', 'link', 'x-own', 'x-broken', 'set-cookie']);
        const isInvalid = sent.length > 0 && received.length === 0;
        const shared = isInvalid
          ? []
          : [['x-shared', 'shared'], ...(path === '/shared-name' ? [] : [['link', '<a>']])];
        expect([method, path, status, texts([...headers].filter(([name]) => names.has(name)))]).toEqual([
          method,
          path,
          isInvalid ? 500 : 200,
          texts([...shared, ...received]),
        ]);
      }
    }
  });

  it('a header value outside ASCII is sent as UTF-8', async () => {
    const send = await start(() => ({ status: 201, headers: [['X-A', 'é€']] }));
    const { headers, status } = await send('/');
    expect([status, headers.get('x-a')]).toEqual([201, Buffer.from('é€').toString('latin1')]);
  });

  it.each<[what: string, response: unknown]>([
    ['a header value that is a number', { status: 200, headers: [['x', 5]] }],
    ['a header name that is not a token', { status: 200, headers: [['a b', 'x']] }],
    ['a header name that is not a string', { status: 200, headers: [[['x'], 'x']] }],
    ['a header value with a line break', { status: 200, headers: [['x', 'a\r\nb: c']] }],
    ['a header value with a NUL', { status: 200, headers: [['x', 'a\0b']] }],
    ['a shared header with a line break', { ...ok(), sharedHeaders: [['x', 'a\r\nb: c']] }],
    ['headers of null', { status: 200, headers: null }],
    ['a status with a line break', { status: '200 OK\r\nb: c', headers: [] }],
    ['the status 20', { status: 20, headers: [] }],
    ['the interim status 101', { status: 101, headers: [] }],
    ['the value undefined', undefined],
    ['a header that frames the message', { status: 200, headers: [['Content-Length', '5']], body: 'x' }],
    ['a Trailer', { status: 200, headers: [['Trailer', 'x-checksum']], body: 'x' }],
    ['a body that is an object', { status: 200, headers: [], body: { a: 1 } }],
  ])('an invalid response with %s is replaced by 500', async (_what, response) => {
    for (const served of [() => response, async () => response] as Handle[]) {
      const send = await start(served);
      const replaced = await send('/');
      expect([replaced.status, replaced.headers.get('b'), await replaced.text()]).toEqual([
        500,
        null,
        '{"code":"INTERNAL_SERVER_ERROR","message":"Internal server error","status":500}',
      ]);
    }
  });

  it.each<[how: string, failing: Handle]>([
    [
      'throws',
      () => {
        throw new Error('not for clients');
      },
    ],
    ['rejects', () => Promise.reject(new Error('not for clients'))],
  ])('a handler that %s gets 500 without its message', async (_how, failing) => {
    const response = await (await start(failing))('/');
    expect([response.status, await response.text()]).toEqual([
      500,
      expect.stringMatching(/^\{"code":"INTERNAL_SERVER_ERROR"(?!.*clients)/),
    ]);
  });
});

it('the Response of gateway.fetch fits the status, method and body of its response', async () => {
  const fetch = createFetch({ handle });
  for (const [index, { name, method, status, body, length }] of rows.entries()) {
    const response = await fetch(`http://x/${index}`, { method });
    expect([name, response.status, await response.text()]).toEqual([name, status, body]);
    // The server of a Response sets its length.
    const hasLength = method === 'HEAD' && status !== 205 && length !== undefined;
    expect([name, response.headers.get('content-length')]).toEqual([name, hasLength ? String(length) : null]);
  }
});
