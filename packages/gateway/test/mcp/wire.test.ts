import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { inputs } from '@petstore/testing/forms';
import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { Server } from '../listen.ts';
import { needs } from '../servers.ts';
import {
  call,
  currentHeaders,
  currentMeta,
  errorOf,
  post,
  requestOf,
  revisions,
  send,
} from '@petstore/testing/mcpMessages';
import { rawRequest, rawSocket } from '../wire/rawSocket.ts';
import { toolServers } from './serveTools.ts';

const start = toolServers();

const list = { jsonrpc: '2.0', id: 7, method: 'tools/list' };
const listWith = (_meta: object) => ({ ...list, params: { _meta } });
const currentList = listWith(currentMeta);
const versionKey = 'io.modelcontextprotocol/protocolVersion';

describe('versions', () => {
  it('server/discover names the versions, and the server by the title of the document', async () => {
    const { server } = await start();
    const { message, status } = await send(server, 'server/discover');
    expect([status, message]).toEqual([
      200,
      {
        jsonrpc: '2.0',
        id: 1,
        result: {
          resultType: 'complete',
          supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18'],
          capabilities: { tools: {} },
          ttlMs: 60_000,
          cacheScope: 'public',
          _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'Books', version: '1.2.3' } },
        },
      },
    ]);
  });

  it.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2024-11-05', '2025-11-25'],
    ['2026-07-28', '2025-11-25'],
    [5, '2025-11-25'],
  ])('initialize with %s begins %s, without a session', async (protocolVersion, expected) => {
    const { server } = await start();
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'a', version: '1' } };
    const reply = await post(server, JSON.stringify({ ...list, method: 'initialize', params }));
    expect(reply.message?.result).toEqual({
      protocolVersion: expected,
      capabilities: { tools: {} },
      serverInfo: { name: 'Books', version: '1.2.3' },
    });
    expect(reply.headers.has('mcp-session-id')).toBe(false);
  });

  it.each([
    ['a header of an unknown version', list, { 'mcp-protocol-version': '2024-11-05' }, 400, -32_022],
    ['a header of a version that does not exist', list, { 'mcp-protocol-version': 'v9' }, 400, -32_022],
    ['an unknown version in the body alone', listWith({ [versionKey]: 'v9' }), {}, 400, -32_022],
    ['the version in the body alone', currentList, {}, 400, -32_020],
    ['the version in no header, but Mcp-Method', currentList, { 'mcp-method': 'tools/list' }, 400, -32_020],
    ['another version in the header', currentList, { 'mcp-protocol-version': '2025-11-25' }, 400, -32_020],
    ['the version in the header alone', list, currentHeaders('tools/list'), 400, -32_602],
    ['no capabilities', listWith({ [versionKey]: '2026-07-28' }), currentHeaders('tools/list'), 400, -32_602],
    ['no Mcp-Method', currentList, { 'mcp-protocol-version': '2026-07-28' }, 400, -32_020],
    ['another Mcp-Method', currentList, currentHeaders('tools/call'), 400, -32_020],
    ['Mcp-Method in another case', currentList, currentHeaders('TOOLS/LIST'), 400, -32_020],
    ['no metadata and no header', list, {}, 200, undefined],
    ['a header of an older version', list, { 'mcp-protocol-version': '2025-06-18' }, 200, undefined],
  ])('a request with %s: %#', async (_what, body, headers, status, code) => {
    const { server } = await start();
    const reply = await post(server, JSON.stringify(body), headers);
    expect([reply.status, reply.message?.error?.code, reply.message?.id]).toEqual([status, code, 7]);
  });

  it('the error of an unknown version has the versions, and the requested one', async () => {
    const { server } = await start();
    const reply = await post(server, JSON.stringify(list), { 'mcp-protocol-version': '2099-01-01' });
    expect(reply.message?.error?.data).toEqual({
      supported: ['2026-07-28', '2025-11-25', '2025-06-18'],
      requested: '2099-01-01',
    });
  });

  it.each([
    ['initialize', '2026-07-28', 404],
    ['ping', '2026-07-28', 404],
    ['logging/setLevel', '2026-07-28', 404],
    ['server/discover', '2025-11-25', 200],
    ['subscriptions/listen', '2025-11-25', 200],
    ['resources/list', '2025-06-18', 200],
    ['__proto__', '2026-07-28', 404],
  ] as const)('%s does not exist in %s: %i', async (method, revision, status) => {
    const { server } = await start();
    const reply = await send(server, method, {}, { revision });
    expect([reply.status, reply.message?.error?.code]).toEqual([status, -32_601]);
  });

  it('subscriptions/listen acknowledges that there are no notifications, and ends', async () => {
    const { server } = await start();
    const { messages } = await send(
      server,
      'subscriptions/listen',
      { notifications: { toolsListChanged: true } },
      { id: 'a' },
    );
    const _meta = { 'io.modelcontextprotocol/subscriptionId': 'a' };
    expect(messages).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { _meta, notifications: {} },
      },
      { jsonrpc: '2.0', id: 'a', result: { resultType: 'complete', _meta } },
    ]);
    const { message } = await send(server, 'subscriptions/listen');
    expect(message?.error?.code).toBe(-32_602);
  });
});

const countBooks = requestOf('tools/call', { name: 'books_count' });

describe('Mcp-Name', () => {
  it.each<[what: string, header: string | undefined, status: number]>([
    ['the name', 'books_count', 200],
    ['the name in Base64', '=?base64?Ym9va3NfY291bnQ=?=', 200],
    ['another name', 'books_list', 400],
    ['another name in Base64', '=?base64?Ym9va3NfbGlzdA==?=', 400],
    ['Base64 that is none', '=?base64?!!!?=', 400],
    ['Base64 that is no UTF-8', '=?base64?/w==?=', 400],
    ['nothing', undefined, 400],
  ])('a call with %s in Mcp-Name: %#', async (_what, header, status) => {
    const { server } = await start();
    const reply = await post(server, countBooks.body, currentHeaders('tools/call', header));
    expect([reply.status, reply.message?.error?.code]).toEqual([
      status,
      status === 400 ? -32_020 : undefined,
    ]);
  });

  it('of two members with one name the last counts, for the check too', async () => {
    const { server } = await start();
    const twice = countBooks.body.replace('"name"', '"name":"fail","name"');
    expect((await post(server, twice, currentHeaders('tools/call', 'fail'))).status).toBe(400);
    expect((await post(server, twice, currentHeaders('tools/call', 'books_count'))).status).toBe(200);
  });
});

it.each(['mcp-protocol-version', 'mcp-method', 'mcp-name'])('the header %s twice is 400', async (name) => {
  needs('a port');
  const { server } = await start();
  // A proxy may have checked the second one.
  const headers = { ...countBooks.headers, [name.toUpperCase()]: 'other', connection: 'close' };
  const sent = rawRequest('/mcp', { method: 'POST', headers, body: countBooks.body });
  expect(await text(rawSocket(server.port, sent))).toMatch(/^HTTP\/1\.1 400 .*"code":-320(?:20|22)\b/s);
});

describe('hostile messages', () => {
  const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

  it.each<[what: string, body: NonNullable<RequestInit['body']>, code: number]>([
    ['an empty body', '', -32_700],
    ['no JSON', '{"jsonrpc"', -32_700],
    ['invalid UTF-8', new Uint8Array([0x22, 0xff, 0x22]), -32_700],
    ['a batch', `[${JSON.stringify(list)}]`, -32_600],
    ['null', 'null', -32_600],
    ['a list that is nested 200,000 times', deep(200_000), -32_600],
    ['no version of JSON-RPC', '{"id":1,"method":"ping"}', -32_600],
    ['no method', '{"jsonrpc":"2.0","id":1}', -32_600],
    ['a response', '{"jsonrpc":"2.0","id":1,"result":{}}', -32_600],
    ['params that are a list', '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32_600],
    ['the id null', '{"jsonrpc":"2.0","id":null,"method":"ping"}', -32_600],
    ['an id that a double rounds', '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', -32_600],
    // A stream holds its id as long as it is open.
    ['an id of 257 characters', `{"jsonrpc":"2.0","id":"${'9'.repeat(257)}","method":"ping"}`, -32_600],
    ['an id that is nested deep', `{"jsonrpc":"2.0","id":${deep(100_000)},"method":"ping"}`, -32_600],
    [
      'a version that is nested deep',
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":${deep(100_000)}}}}`,
      -32_022,
    ],
    [
      'a tool that does not exist',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no"}}',
      -32_602,
    ],
    [
      'a name of Object.prototype',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"constructor"}}',
      -32_602,
    ],
    [
      'a name that is nested deep',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":${deep(100_000)}}}`,
      -32_602,
    ],
  ])('a body with %s is an error of the protocol', async (_what, body, code) => {
    const { server, records } = await start();
    const reply = await post(server, body);
    expect([reply.status, reply.message?.error?.code]).toEqual([code === -32_602 ? 200 : 400, code]);
    await expect.poll(() => records.length).toBe(1);
    const calls = code === -32_602 ? 1 : 0;
    expect(records[0]).toMatchObject({ protocol: 'mcp', calls, error: undefined });
    expect(records[0]?.callErrors ?? []).toHaveLength(calls);
    expect((await call(server, 'books_count')).message?.result).toMatchObject({ content: [{ text: '3' }] });
  });

  it.each<[params: object, message: string]>([
    [{}, 'params.name is missing; it must be the name of a tool.'],
    [{ name: 5 }, 'params.name is 5; it must be the name of a tool.'],
    [{ name: ['fail'] }, 'params.name is an array; it must be the name of a tool.'],
    [{ name: 'books_lst' }, 'Unknown tool: books_lst. Did you mean books_list?'],
    [{ name: 'BOOKS_LIST' }, 'Unknown tool: BOOKS_LIST. Did you mean books_list?'],
    // A procedure that is no tool is as unknown as any other name.
    [{ name: 'books_hidden' }, 'Unknown tool: books_hidden. Did you mean books_add?'],
    [{ name: '' }, 'Unknown tool: . tools/list has the names of the tools.'],
    [{ name: 'x'.repeat(1000) }, `Unknown tool: ${'x'.repeat(128)}…. tools/list has the names of the tools.`],
    [
      { name: 'fail', arguments: [] },
      'params.arguments is an array; it must be an object, or absent for a tool without input.',
    ],
    [
      { name: 'fail', arguments: null },
      'params.arguments is null; it must be an object, or absent for a tool without input.',
    ],
  ])('the params %j are -32602 with the reason', async (params, message) => {
    const { server } = await start();
    const { message: reply, status } = await send(
      server,
      'tools/call',
      { ...params },
      { revision: '2025-11-25' },
    );
    expect([status, reply?.error]).toEqual([200, { code: -32_602, message }]);
  });

  it('any message has a response of the protocol, and the server goes on', async () => {
    const { server, records } = await start();
    const partly = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
      fc.record<T, never>(model, { requiredKeys: [] });
    const anything = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom('2.0', 1, 'tools/call', 'ping'));
    const meta = fc.oneof(
      anything,
      fc.record({
        [versionKey]: fc.oneof(fc.constant('2026-07-28'), anything),
        'io.modelcontextprotocol/clientCapabilities': anything,
        progressToken: anything,
      }),
    );
    const params = fc.oneof(
      anything,
      partly({
        name: fc.oneof(fc.constantFrom('books_add', 'steps', 'fail'), anything),
        arguments: anything,
        _meta: meta,
      }),
    );
    const method = fc.oneof(
      fc.constantFrom('tools/call', 'tools/list', 'initialize', 'server/discover', 'subscriptions/listen'),
      anything,
    );
    const messages = partly({
      jsonrpc: fc.oneof({ weight: 9, arbitrary: fc.constant('2.0') }, anything),
      id: anything,
      method,
      params,
    });
    const heads = partly({
      'mcp-protocol-version': fc.constantFrom('2026-07-28', '2025-11-25', 'v9'),
      'mcp-method': fc.constantFrom('tools/call', 'tools/list'),
      'mcp-name': fc.constantFrom('books_add', 'steps', 'no'),
    });
    const property = fc.asyncProperty(messages, heads, async (message, headers) => {
      const reply = await post(server, JSON.stringify(message), headers);
      expect([200, 202, 400, 404]).toContain(reply.status);
      // As sent: JSON has no -0.
      const { id } = JSON.parse(JSON.stringify(message)) as { readonly id?: unknown };
      const hasId = typeof id === 'string' || Number.isSafeInteger(id);
      expect(reply.text === '').toBe(reply.status === 202);
      expect(reply.message?.id).toBe(hasId ? id : undefined);
    });
    await fc.assert(property, { numRuns: inputs(2000) });
    // `fail` alone has unexpected errors.
    const errors = records.filter(({ error }) => error !== undefined);
    expect(errors.every(({ operation }) => operation === 'fail')).toBe(true);
  });

  it.each(['', '"', '\u0000\u2028', ',"id":', '\u{1f40e}'.repeat(128), 0, -1, 2 ** 53 - 1])(
    'the response has the id of its request: %j',
    async (id) => {
      const { server } = await start();
      expect((await call(server, 'books_count', {}, { id })).message?.id).toBe(id);
      expect((await call(server, 'books_add', {}, { id })).message?.id).toBe(id);
      expect((await send(server, 'no', {}, { id })).message?.id).toBe(id);
    },
  );

  it.each(revisions)(
    'arguments may have 100 levels, of which they are the first, in %s',
    async (revision) => {
      const { server, records } = await start();
      for (const [levels, isTooDeep] of [
        [100, false],
        [101, true],
      ] as const) {
        const args = { count: JSON.parse(deep(levels - 1)) as unknown };
        // A query, mutations and a subscription. The input of each is invalid anyway.
        for (const name of ['books_list', 'books_add', 'orders_place', 'steps']) {
          const own = name === 'steps' ? {} : { limit: 99, item: 5 };
          const headers = name === 'orders_place' ? { 'idempotency-key': crypto.randomUUID() } : {};
          const reply = await call(server, name, { ...args, ...own }, { revision, headers });
          const { code, message } = errorOf(reply) as { readonly code: string; readonly message: string };
          const isDepth = message === 'The input is nested deeper than 100 levels.';
          expect([name, levels, code, isDepth]).toEqual([name, levels, 'BAD_REQUEST', isTooDeep]);
        }
      }
      await expect.poll(() => records.at(-1)?.limit).toBe('json-depth');
      // The members of arguments are sorted for the comparison with those of another call with the key.
      const key = { revision, headers: { 'idempotency-key': 'deep' } };
      const { body, headers } = requestOf('tools/call', { name: 'orders_place', arguments: 'deep' }, key);
      const args = `{"item":${deep(100_000)}}`;
      const keyed = await post(server, body.replace('"arguments":"deep"', `"arguments":${args}`), headers);
      expect(errorOf(keyed)).toMatchObject({ code: 'BAD_REQUEST', status: 400 });
    },
  );

  it.each<[what: string, body: string, status: number, version?: string]>([
    ['a notification', '{"jsonrpc":"2.0","method":"notifications/initialized"}', 202],
    ['a notification of the current version', '{"jsonrpc":"2.0","method":"no"}', 202, '2026-07-28'],
    ['a notification of an unknown version', '{"jsonrpc":"2.0","method":"no"}', 400, 'v9'],
    ['a cancellation', '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}', 202],
    ['an unknown notification', '{"jsonrpc":"2.0","method":"no"}', 202],
    ['a notification without a method', '{"jsonrpc":"2.0"}', 400],
    ['a notification whose params are a list', '{"jsonrpc":"2.0","method":"no","params":[]}', 400],
  ])('%s: %#', async (_what, body, status, version) => {
    const { server } = await start();
    const reply = await post(server, body, version === undefined ? {} : { 'mcp-protocol-version': version });
    expect([reply.status, reply.text === '']).toEqual([status, status === 202]);
  });

  it('a body of exactly maxBodySize is read, and a larger one is 413', async () => {
    const { server, records } = await start({ maxBodySize: 1000 });
    const body = JSON.stringify(list);
    expect((await post(server, body.padEnd(1000))).status).toBe(200);
    const reply = await post(server, body.padEnd(1001));
    expect([reply.status, reply.message?.error?.code]).toEqual([413, -32_600]);
    await expect.poll(() => records[1]?.limit).toBe('body-bytes');
  });

  it.each([
    ['application/json; charset=utf-8', undefined, 200],
    ['text/plain', undefined, 415],
    ['application/jsonl', undefined, 415],
    ['application/json', 'gzip', 415],
  ])('a body of %s with the encoding %s is %i', async (type, encoding, status) => {
    const { server } = await start();
    const headers = { 'content-type': type, ...(encoding !== undefined && { 'content-encoding': encoding }) };
    expect((await post(server, JSON.stringify(list), headers)).status).toBe(status);
  });
});

describe('the endpoint', () => {
  const fetchAs = (server: Server, method: string, headers = {}) =>
    server.fetch(`${server.origin}/mcp`, { method, headers });

  it.each(['GET', 'DELETE', 'PUT'])('%s is 405', async (method) => {
    const { server, records } = await start();
    const response = await fetchAs(server, method);
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    await expect.poll(() => records[0]).toMatchObject({ protocol: 'mcp', status: 405, calls: 0 });
  });

  it.each([
    ['https://page.example', 200],
    ['https://books.example', 200],
    ['https://other.example', 403],
    ['http://localhost:1', 403],
    ['null', 403],
    ['', 200],
  ])('a page of the origin %j gets %i', async (origin, status) => {
    const { server } = await start({
      cors: { origins: ['https://page.example'] },
      publicUrl: 'https://books.example/api',
    });
    const reply = await post(server, JSON.stringify(list), { origin });
    expect(reply.status).toBe(status);
    // The other protocols are as before.
    const rest = await server.fetch(`${server.origin}/v1/books`, { headers: { origin } });
    expect(rest.status).toBe(200);
  });

  it.each([
    ['the server by its address', 'http://127.0.0.1:PORT', '127.0.0.1:PORT', 200],
    ['the server by localhost', 'http://localhost:PORT', 'localhost:PORT', 200],
    ['the server by IPv6', 'http://[::1]:PORT', '[::1]:PORT', 200],
    // The name of an attacker, which resolves to the address of the server: the browser sees one origin.
    ['a name that resolves to the server', 'http://evil.example:PORT', 'evil.example:PORT', 403],
    ['a subdomain of localhost', 'http://evil.localhost', 'evil.localhost', 403],
    ['another server of this machine', 'http://localhost:1', 'localhost:PORT', 403],
    ['no origin, with a user', 'http://x@localhost:PORT', 'localhost:PORT', 403],
    ['no origin, with a path', 'http://localhost:PORT/', 'localhost:PORT', 403],
  ])('a page of %s: %#', async (_what, origin, host, status) => {
    needs('a port');
    const { server } = await start();
    const { port } = server;
    const withPort = (message: string) => message.replace('PORT', String(port));
    for (const revision of revisions) {
      const page = { revision, headers: { host: withPort(host), origin: withPort(origin) } };
      const { body, headers } = requestOf('tools/list', {}, page);
      const sending = request({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers });
      sending.end(body);
      const [response] = (await once(sending, 'response')) as [IncomingMessage];
      response.resume();
      expect(response.statusCode).toBe(status);
    }
  });

  it('without mcp the path is unknown', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    const { server } = await start({ mcp: undefined as never });
    expect(log.mock.calls.splice(0)).toEqual([[expect.stringContaining('books.add, books.list') as string]]);
    expect((await post(server, JSON.stringify(list))).status).toBe(404);
  });
});
