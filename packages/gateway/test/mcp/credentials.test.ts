import { apiKey, bearer } from 'trpc-gateway';
import { describe, expect, it, vi } from 'vitest';
import { call, errorOf, listTools, revisions, send } from '@petstore/testing/mcpMessages';
import { inProcess, serveInTest } from './serveTools.ts';
import { createProtectedToolGateway, t, tool } from './toolRouter.ts';

const start = async (...args: Parameters<typeof createProtectedToolGateway>) =>
  serveInTest(await createProtectedToolGateway(...args));

const as = (token: string) => ({ authorization: `Bearer ${token}` });

describe.each(revisions)('credentials in %s', (revision) => {
  const withToken = (token: string) => ({ revision, headers: as(token) });

  it.each([
    [
      'no',
      {},
      'Bearer realm="api", resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource"',
    ],
    [
      'a wrong',
      as('wrong'),
      'Bearer realm="api", error="invalid_token", resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource"',
    ],
  ])(
    'a request with %s token is 401, with the metadata of the resource',
    async (_what, headers, challenge) => {
      const { server, records } = await start();
      for (const method of ['initialize', 'server/discover', 'tools/list', 'tools/call', 'no']) {
        const params = method === 'tools/call' ? { name: 'books_count' } : {};
        const reply = await send(server, method, params, { revision, headers });
        expect([reply.status, reply.message?.error?.code, reply.headers.get('www-authenticate')]).toEqual([
          401,
          -32_600,
          challenge,
        ]);
        expect(reply.message).not.toHaveProperty('id');
      }
      await expect.poll(() => records.length).toBe(5);
      expect(records.every(({ protocol, status }) => protocol === 'mcp' && status === 401)).toBe(true);
    },
  );

  it('a call without a scope is 403, and names the scope', async () => {
    const { server } = await start();
    const rejected = await call(server, 'books_secret', {}, { ...withToken('reader'), id: 'a' });
    expect([rejected.status, rejected.message?.id]).toEqual([403, 'a']);
    expect(rejected.headers.get('www-authenticate')).toContain(
      'error="insufficient_scope", scope="books:secret"',
    );
    const { message } = await call(server, 'books_secret', {}, withToken('keeper'));
    expect(message?.result).toMatchObject({ content: [{ text: '{"secret":true}' }] });
  });

  it('a token that is revoked is 401 from then on, and ends a running subscription', async () => {
    const { server, seen, valid } = await start();
    const running = call(server, 'steps', { ms: 100, count: 1000 }, withToken('reader'));
    await expect
      .poll(async () => (await call(server, 'books_count', {}, withToken('reader'))).status)
      .toBe(200);
    valid.delete('reader');
    // A response, without which the client would wait for it.
    expect(errorOf(await running)).toMatchObject({ code: 'UNAUTHORIZED', status: 401 });
    expect(seen.aborted).toHaveLength(1);
    expect((await call(server, 'books_count', {}, withToken('reader'))).status).toBe(401);
  });

  it('a token is no help to a page of another origin', async () => {
    const { server } = await start();
    const headers = { ...as('keeper'), origin: 'https://evil.example' };
    expect((await call(server, 'books_count', {}, { revision, headers })).status).toBe(403);
    // Before the credential.
    expect((await send(server, 'tools/list', {}, { revision, headers: { origin: 'null' } })).status).toBe(
      403,
    );
  });
});

it('the metadata of a resource with a path is at no other place', async () => {
  const { server } = await start({}, { resource: 'http://127.0.0.1/mcp' });
  const statusAt = async (path: string) =>
    (await server.fetch(`${server.origin}/.well-known/oauth-protected-resource${path}`)).status;
  // RFC 9728 §3.3: a client compares the resource with the place that it has read.
  expect([await statusAt('/mcp'), await statusAt('')]).toEqual([200, 404]);
});

it('the endpoint needs no token if no tool does', async () => {
  const open = tool.meta({ protect: false }).query(() => 'open');
  const closed = t.procedure.query(() => 'closed');
  const { server } = await inProcess(
    { open, closed },
    { authentication: bearer({ verify: (token) => (token === 'good' ? 'user' : undefined) }) },
  );
  for (const revision of revisions) {
    const { message } = await call(server, 'open', {}, { revision });
    expect(message?.result).toMatchObject({ content: [{ text: 'open' }] });
  }
  const reply = await call(server, 'closed');
  expect(reply.message?.error?.code).toBe(-32_602);
  expect(() => errorOf(reply)).toThrow('has not failed');
});

interface ToolList {
  readonly tools: readonly { readonly name: string }[];
  readonly cacheScope?: string;
}

describe.each(revisions)('several scopes and schemes in %s', (revision) => {
  const listOf = async (
    server: Awaited<ReturnType<typeof inProcess>>['server'],
    headers: Record<string, string>,
  ) => (await send(server, 'tools/list', {}, { revision, headers })).message?.result as unknown as ToolList;

  it.each([
    ['', []],
    ['a', ['one']],
    ['b', []],
    ['a~b', ['one', 'both', 'steps']],
    ['b~a~c', ['one', 'both', 'steps']],
  ])(
    'the list has the tools that the scopes of the token allow, and is private: "%s" allows %j',
    async (granted, expected) => {
      const scoped = (...scopes: string[]) => tool.meta({ scopes });
      const { server } = await inProcess(
        {
          one: scoped('a').mutation(() => 1),
          both: scoped('a', 'b').query(() => 1),
          steps: scoped('b', 'a').subscription(async function* steps() {
            yield 1;
          }),
        },
        { authentication: bearer({ verify: (token) => token, scopes: (token) => token.split('~') }) },
      );
      const headers = as(`~${granted}`);
      const { cacheScope, tools } = await listOf(server, headers);
      expect(tools.map(({ name }) => name)).toEqual(expected);
      expect(cacheScope).toBe(revision === '2026-07-28' ? 'private' : undefined);
      for (const name of ['one', 'both', 'steps']) {
        const { status } = await call(server, name, {}, { revision, headers });
        expect([name, status]).toEqual([name, expected.includes(name) ? 200 : 403]);
      }
    },
  );

  it.each([
    ['one scheme', bearer({ verify: (token) => token })],
    ['two schemes', [apiKey({ name: 'x-key', verify: (key) => key }), bearer({ verify: (token) => token })]],
  ])(
    'a list for a credential of %s is private, and one for none is public',
    async (_what, authentication) => {
      const { server } = await inProcess(
        { ping: tool.meta({ protect: false }).query(() => 1) },
        { authentication },
      );
      const expected = (cacheScope: string) =>
        revision === '2026-07-28' ? { cacheScope, ttlMs: 60_000, resultType: 'complete' } : {};
      const { tools: _own, ...own } = await listOf(server, as('token'));
      const { tools: _open, ...open } = await listOf(server, {});
      expect([own, open]).toEqual([expected('private'), expected('public')]);
      if (revision !== '2026-07-28') return;
      const discovered = await send(server, 'server/discover', {}, { headers: as('token') });
      expect(discovered.message?.result?.['cacheScope']).toBe('private');
    },
  );

  it.each(['first', 'last'])(
    'a public tool that is %s beside a protected one needs a credential',
    async (place) => {
      const open = tool.meta({ protect: false }).query(() => 'open');
      const closed = tool.query(() => 'closed');
      const authentication = bearer({ verify: (token) => (token === 'good' ? 'user' : undefined) });
      const { server } = await inProcess(place === 'first' ? { open, closed } : { closed, open }, {
        authentication,
      });
      for (const name of ['open', 'closed', 'unknown']) {
        expect((await call(server, name, {}, { revision })).status).toBe(401);
        expect((await call(server, name, {}, { revision, headers: as('bad') })).status).toBe(401);
        expect((await call(server, name, {}, { revision, headers: as('good') })).status).toBe(200);
      }
      for (const method of ['tools/list', 'server/discover', 'initialize', 'ping']) {
        expect((await send(server, method, {}, { revision })).status).toBe(401);
      }
    },
  );
});

it('the scopes of a credential are read once for a list of tools', async () => {
  const scoped = tool.meta({ scopes: ['a'] }).query(() => 1);
  const scopes = vi.fn(() => ['a']);
  const { server } = await inProcess(
    { one: scoped, two: scoped, three: scoped },
    { authentication: bearer({ verify: (token) => token, scopes }) },
  );
  expect(await listTools(server, { headers: as('token') })).toMatchObject([{}, {}, {}]);
  expect(scopes).toHaveBeenCalledOnce();
});

it.each(revisions)(
  'the error for an unknown tool names only tools that the caller may call, in %s',
  async (revision) => {
    const { server } = await inProcess(
      {
        secrets: tool.meta({ scopes: ['secret'] }).query(() => 1),
        list: tool.query(() => 1),
        count: tool.query(() => 1),
      },
      { authentication: bearer({ verify: (token) => token, scopes: (token) => [token] }) },
    );
    const errorFor = async (token: string) =>
      (await call(server, 'secret', {}, { revision, headers: as(token) })).message?.error;
    const [code, unknown] = [-32_602, 'Unknown tool: secret.'];
    expect(await errorFor('other')).toEqual({ code, message: `${unknown} The tools are list, count.` });
    expect(await errorFor('secret')).toEqual({ code, message: `${unknown} Did you mean secrets?` });
  },
);

it.each(revisions)(
  'scopes that are no list are a 500, and not those of the next request, in %s',
  async (revision) => {
    const { records, server } = await inProcess(
      { secret: tool.meta({ scopes: ['secret'] }).query(() => 'secret'), open: tool.query(() => 'open') },
      { authentication: bearer({ verify: (token) => token, scopes: () => 'secrets' as never }) },
    );
    const options = { revision, headers: as('a') };
    for (const reply of [
      await send(server, 'tools/list', {}, options),
      await call(server, 'secret', {}, options),
      await call(server, 'unknown', {}, options),
    ]) {
      expect([reply.status, reply.message?.error?.message]).toEqual([500, 'Internal server error']);
    }
    expect((await call(server, 'open', {}, options)).status).toBe(200);
    await expect.poll(() => records.length).toBe(4);
    expect(String(records[0]?.error)).toContain('it must return an array');
  },
);
