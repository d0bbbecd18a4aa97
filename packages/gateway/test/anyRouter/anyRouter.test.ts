import { bearer, createGateway, type ErrorFormat, problemDetails } from 'trpc-gateway';
import { trpcToOpenApiErrors } from 'trpc-gateway/trpc-to-openapi';
import { createTRPCClient, httpBatchLink } from '@trpc/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipIfDifferent } from '../adapterDifferences.ts';
import { type Client, connect, type SendOptions } from '../client.ts';
import { operations } from '../openApi.ts';
import type { Server } from '../listen.ts';
import { needs, serve } from '../servers.ts';
import { libraryRouter } from './library.ts';

const apiKey = 'a-key-of-the-library';

async function start(errorFormat?: ErrorFormat): Promise<Server> {
  const gateway = await createGateway({
    router: libraryRouter,
    authentication: bearer({
      verify: (token) => (token === apiKey ? 'librarian' : token === 'a-visitor' ? 'visitor' : undefined),
    }),
    createContext: ({ response, identity }) => ({ response, reader: identity }),
    document: { title: 'Library', version: '2.0.0' },
    // Procedures fail on purpose: errors are not to be printed.
    onResponse: () => {},
    ...(errorFormat && { errorFormat }),
  });
  return serve(gateway);
}

describe('a gateway of the library router', () => {
  let server: Server;
  let client: Client;

  beforeAll(async () => {
    server = await start();
    client = await connect({ ...server, apiKey });
  });
  afterAll(() => server.close());

  /** Returns the input that the resolver of GET /v1/books received. */
  const search = async (query: string) => (await client.get(`/v1/books?${query}`)).json();

  describe('query parameters', () => {
    it.each<[query: string, name: string, value: unknown]>([
      ['text=5', 'text', '5'],
      ['text=', 'text', ''],
      ['text=a+b%2Bc', 'text', 'a b+c'],
      ['minPages=-5', 'minPages', -5],
      ['minPages=007', 'minPages', 7],
      ['price=9.5', 'price', 9.5],
      ['price=1e3', 'price', 1000],
      ['inPrint=true', 'inPrint', true],
      ['inPrint=false', 'inPrint', false],
      ['barcode=9223372036854775808', 'barcode', '9223372036854775808n'],
      ['since=2026-02-28T12:00:00%2B02:00', 'since', 'Date(2026-02-28T10:00:00.000Z)'],
      ['genre=poetry', 'genre', 'poetry'],
      ['shelf=2', 'shelf', 2],
      ['shelf=annex', 'shelf', 'annex'],
      ['tag=one', 'tag', ['one']],
      ['tag=one&tag=two', 'tag', ['one', 'two']],
      ['year=2001&year=2002', 'year', [2001, 2002]],
      ['', 'year', [1999]],
      ['', 'sort', 'title'],
      ['volume=3', 'volume', 3],
      ['code=ab', 'code', 'AB'],
      ['ratio=0.5', 'ratio', 0.5],
      ['limit=10', 'limit', 10],
      ['limit=all', 'limit', 'all'],
      ['flag=yes', 'flag', true],
      ['reference=r1', 'reference', 'r1'],
    ])('GET /v1/books?%s passes %s: %j to the procedure', async (query, name, value) => {
      expect(await search(query)).toHaveProperty(name, value);
    });

    it.each([
      ['minPages=5.0', 'minPages'],
      ['minPages=%205', 'minPages'],
      ['minPages=+5', 'minPages'],
      ['minPages=0x10', 'minPages'],
      ['minPages=', 'minPages'],
      ['minPages=9007199254740993', 'minPages'],
      ['price=0.1000000000000000055511151231257827', 'price'],
      ['price=1e400', 'price'],
      ['price=Infinity', 'price'],
      ['price=NaN', 'price'],
      ['inPrint=1', 'inPrint'],
      ['inPrint=TRUE', 'inPrint'],
      ['inPrint=', 'inPrint'],
      ['barcode=1.5', 'barcode'],
      ['barcode=', 'barcode'],
      ['barcode=-', 'barcode'],
      ['limit=', 'limit'],
      ['since=2026-02-30T00:00:00Z', 'since'],
      ['since=2026-02-28', 'since'],
      ['genre=Poetry', 'genre'],
      ['shelf=3', 'shelf'],
      ['year=2001&year=x', 'year.1'],
      ['limit=some', 'limit'],
      ['text=%ff', 'text'],
      ['text=a&text=b', 'text'],
    ])('GET /v1/books?%s is rejected with 400, and the message names %s', async (query, name) => {
      const received = await client.get(`/v1/books?${query}`);
      expect(received.status).toBe(400);
      expect(received.error().message).toContain(`${name}:`);
    });

    it('GET /v1/books names every invalid field in one message, also those that fail at conversion', async () => {
      const response = await client.get('/v1/books?minPages=x&genre=x&flag=x');
      expect(response.error().message).toMatch(/minPages: .*genre: .*flag: /);
    });
  });

  it.each<[method: string, target: string, sending: SendOptions, status: number, expected: unknown]>([
    ['GET', '/v1/books/latest', {}, 200, expect.objectContaining({ id: 1 })],
    ['GET', '/v1/books/1', {}, 200, expect.objectContaining({ id: 1 })],
    ['GET', '/v1/books/2', {}, 404, expect.objectContaining({ message: 'There is no such book.' })],
    ['GET', '/v1/books/0', {}, 400, expect.objectContaining({ message: expect.stringContaining('bookId:') })],
    [
      'POST',
      '/v1/books',
      { body: { title: 'Emma', pages: 474 } },
      201,
      { id: 2, title: 'Emma', pages: 474, isbn: null, tags: [] },
    ],
    [
      'PUT',
      '/v1/books/9',
      { body: { title: 'Emma', pages: 474, bookId: 3 } },
      200,
      expect.objectContaining({ id: 9 }),
    ],
    [
      'PATCH',
      '/v1/books/9',
      { body: { pages: 5 } },
      200,
      expect.objectContaining({ id: 9, pages: 5, title: 'Middlemarch' }),
    ],
    ['PATCH', '/v1/books/9', {}, 200, expect.objectContaining({ id: 9, title: 'Middlemarch' })],
    ['POST', '/v1/maybe', { body: { there: true } }, 200, { at: '1970-01-01T00:00:00.000Z' }],
    ['GET', '/v1/archive/boxes', {}, 200, ['box']],
    ['GET', '/v1/hello/a%2Fb', { authorization: null }, 200, { text: 'Hello a/b' }],
    [
      'GET',
      '/v1/hello/%F0%9F%90%B6',
      { authorization: 'Bearer wrong-but-not-needed' },
      200,
      { text: 'Hello 🐶' },
    ],
  ])('%s %s with %j is answered with %i', async (method, target, sending, status, expected) => {
    const response = await client.send(method, target, sending);
    expect(response.status).toBe(status);
    expect(response.json()).toEqual(expected);
  });

  it('an output of z.void() and an output of undefined are answered with 204 and no body', async () => {
    const noBody: SendOptions = { headers: [['Content-Length', '0']] };
    for (const response of [
      await client.send('DELETE', '/v1/books/1?force=true', noBody),
      await client.send('POST', '/v1/maybe', noBody),
    ]) {
      expect(response.status).toBe(204);
      expect(response.body).toHaveLength(0);
      expect(response.header('content-type')).toBeUndefined();
    }
  });

  it('the connection is closed after a chunked request, because its trailers could be read as a request', async () => {
    needs('a port');
    skipIfDifferent('a connection after a chunked request');
    const head = `POST /v1/maybe HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n`;
    expect(await client.sendRaw(`${head}\r\n`)).toMatch(/^HTTP\/1\.1 204 .*\r\nConnection: close\r\n/s);
    const smuggled = `GET /v1/hello/you HTTP/1.1\r\nHost: x\r\n\r\n`;
    expect(await client.sendRaw(`${head}\r\n${smuggled}`)).not.toContain('Hello you');
    expect(await client.sendRaw(`${head}X-Trailer: 1\r\n\r\n${smuggled}`)).not.toContain('Hello you');
  });

  it('a response has the status and the headers that the procedure set', async () => {
    const response = await client.send('POST', '/v1/books', { body: { title: 'Middlemarch', pages: 880 } });
    expect(response.status).toBe(200);
    expect(response.header('x-known')).toBe('yes');
    expect(response.header('location')).toBe('/v1/books/1');
  });

  it('ctx.response.redirect() answers with 303 and Location', async () => {
    const response = await client.get('/v1/books/1/cover');
    expect(response.status).toBe(303);
    expect(response.header('location')).toBe('https://covers.test/1');
  });

  it('a form is converted like a query if contentTypes lists it, and rejected with 415 otherwise', async () => {
    const sending = {
      contentType: 'application/x-www-form-urlencoded',
      body: 'title=Emma+W%21&pages=474&tags=a&tags=b',
    };
    const response = await client.send('POST', '/v1/books', sending);
    expect(response.json()).toEqual({ id: 2, title: 'Emma W!', pages: 474, isbn: null, tags: ['a', 'b'] });
    const invalid = await client.send('POST', '/v1/books', { ...sending, body: 'title=Emma&pages=4.5' });
    expect(invalid.error().message).toContain('pages:');
    const unsupported = await client.send('PATCH', '/v1/books/9', { ...sending, body: 'pages=5' });
    expect(unsupported.status).toBe(415);
  });

  it('the Link to the next page keeps the path and the query', async () => {
    const response = await client.get('/v1/rooms/a%2Fb/visits?kind=x&unknown=%3E&kind=y%26z');
    expect(response.header('link')).toBe(
      '</v1/rooms/a%2Fb/visits?kind=x&unknown=%3E&kind=y%26z&after=second%20%26%20last>; rel="next"',
    );
    const next = await client.get('/v1/rooms/a%2Fb/visits?kind=x&kind=y%26z&after=second+%26+last');
    expect(next.json()).toEqual(['second & last']);
    expect(next.header('link')).toBeUndefined();
  });

  it('a public procedure needs no credential over tRPC, and a batch with a protected one needs it', async () => {
    const { origin, fetch } = server;
    const input = encodeURIComponent(JSON.stringify({ name: 'you' }));
    expect((await fetch(`${origin}/trpc/desk.hello?input=${input}`)).status).toBe(200);
    const batch = encodeURIComponent(JSON.stringify({ 0: { name: 'you' } }));
    expect((await fetch(`${origin}/trpc/desk.hello,whisper?batch=1&input=${batch}`)).status).toBe(401);
  });

  it('an error that a middleware throws is answered with its status', async () => {
    const response = await client.send('POST', '/v1/books', {
      body: { title: 'Emma', pages: 1 },
      authorization: 'Bearer a-visitor',
    });
    expect(response.status).toBe(403);
    expect(response.error()).toEqual({ code: 'FORBIDDEN', message: 'Only staff may do this.', status: 403 });
  });

  it.each(['throws', 'lies', 'status', 'header'])(
    'GET /v1/broken/%s is answered with 500 and no details',
    async (how) => {
      const response = await client.get(`/v1/broken/${how}`);
      expect(response.error()).toEqual({
        code: 'INTERNAL_SERVER_ERROR',
        message: 'Internal server error',
        status: 500,
      });
      expect(response.header('x-injected')).toBeUndefined();
    },
  );

  it('the message of a cause is not sent to the client', async () => {
    const response = await server.fetch(`${server.origin}/v1/broken/cause`, {
      headers: { authorization: `Bearer ${apiKey}` },
    });
    expect(await response.json()).toEqual({ code: 'CONFLICT', message: 'Conflict', status: 409 });
  });

  it('a tRPC client can call the same procedures', async () => {
    const headers = { authorization: `Bearer ${apiKey}` };
    const trpc = createTRPCClient<typeof libraryRouter>({
      links: [httpBatchLink({ url: `${server.origin}/trpc`, fetch: server.fetch, headers })],
    });
    const [book, boxes, whisper] = await Promise.all([
      trpc.books.byId.query({ bookId: 1 }),
      trpc.archive.boxes.query(),
      trpc.whisper.query(),
    ]);
    expect([book.title, boxes, whisper]).toEqual(['Middlemarch', ['box'], 'psst']);
  });

  it('the document lists each operation with its statuses, and nothing else', () => {
    const documented = operations(client.document).map(({ method, path, operation }) => [
      `${method} ${path}`,
      operation.operationId,
      Object.keys(operation.responses).join(' '),
    ]);
    expect(documented).toEqual([
      ['GET /books', 'books.search', '200 400 401 500 503 504'],
      ['POST /books', 'books.create', '200 201 400 401 403 413 415 500 503 504'],
      ['GET /books/latest', 'books.latest', '200 401 500 503 504'],
      ['GET /books/{bookId}', 'books.byId', '200 400 401 404 500 503 504'],
      ['PUT /books/{bookId}', 'books.replace', '200 400 401 404 413 415 500 503 504'],
      ['PATCH /books/{bookId}', 'books.update', '200 400 401 404 413 415 500 503 504'],
      ['DELETE /books/{bookId}', 'books.remove', '204 400 401 404 500 503 504'],
      ['GET /books/{bookId}/cover', 'books.cover', '303 400 401 404 500 503 504'],
      ['GET /hello/{name}', 'desk.hello', '200 400 500 503 504'],
      ['GET /rooms/{room}/visits', 'desk.visits', '200 400 401 500 503 504'],
      ['POST /maybe', 'desk.maybe', '200 204 400 401 413 415 500 503 504'],
      ['GET /broken/{how}', 'desk.broken', '200 400 401 500 503 504'],
      ['GET /archive/boxes', 'archive.boxes', '200 401 500 503 504'],
    ]);
  });
});

describe('errorFormat', () => {
  it.each([
    [
      'problemDetails',
      problemDetails,
      'application/problem+json',
      {
        type: 'about:blank',
        title: 'Bad Request',
        status: 400,
        detail: 'bookId: must be an integer, such as 42 or -7.',
        code: 'BAD_REQUEST',
        errors: [
          {
            pointer: '#/bookId',
            detail: 'must be an integer, such as 42 or -7',
          },
        ],
      },
    ],
    [
      'trpcToOpenApiErrors',
      trpcToOpenApiErrors,
      'application/json',
      {
        message: 'Input validation failed',
        code: 'BAD_REQUEST',
        data: { code: 'BAD_REQUEST', httpStatus: 400, path: 'books.byId' },
        issues: [
          {
            code: 'invalid_type',
            expected: 'int',
            path: ['bookId'],
            message: 'must be an integer, such as 42 or -7',
          },
        ],
      },
    ],
  ])(
    'the errorFormat %s changes the body of errors and the document',
    async (_name, format, contentType, expected) => {
      const server = await start(format);
      try {
        const response = await server.fetch(`${server.origin}/v1/books/x`, {
          headers: { authorization: `Bearer ${apiKey}` },
        });
        expect(response.status).toBe(400);
        expect(response.headers.get('content-type')).toBe(contentType);
        expect(await response.json()).toEqual(expected);
        const { document } = await connect({ ...server, apiKey });
        const documented = document.paths['/books/{bookId}']?.['get']?.responses['400']?.content ?? {};
        expect(Object.keys(documented)).toEqual([contentType]);
      } finally {
        await server.close();
      }
    },
  );
});
