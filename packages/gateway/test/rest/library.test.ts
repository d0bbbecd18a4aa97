import { bearer, createGateway } from 'trpc-gateway';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipIfDifferent } from '../adapterDifferences.ts';
import { type Client, connect } from '../client.ts';
import type { Server } from '../listen.ts';
import { needs, serve } from '../servers.ts';
import { libraryRouter } from './library.ts';

const apiKey = 'a-key-of-the-library';

async function start(): Promise<Server> {
  const gateway = await createGateway({
    router: libraryRouter,
    authentication: bearer({ verify: (token) => (token === apiKey ? 'librarian' : undefined) }),
    createContext: ({ response }) => ({ response }),
    document: { title: 'Library', version: '2.0.0' },
    // Procedures fail on purpose: errors are not to be printed.
    onResponse: () => {},
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
    expect(response.header('x-tags')).toBe('');
  });

  it('ctx.response.redirect() answers with 303 and Location', async () => {
    const response = await client.get('/v1/books/1/cover');
    expect(response.status).toBe(303);
    expect(response.header('location')).toBe('https://covers.test/1');
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

  it.each(['status', 'header'])('GET /v1/broken/%s is answered with 500 and no details', async (how) => {
    const response = await client.get(`/v1/broken/${how}`);
    expect(response.error()).toEqual({
      code: 'INTERNAL_SERVER_ERROR',
      message: 'Internal server error',
      status: 500,
    });
    expect(response.header('x-injected')).toBeUndefined();
  });
});
