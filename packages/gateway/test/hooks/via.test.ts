import { initTRPC } from '@trpc/server';
import type { Policy, Via } from 'trpc-gateway';
import { jwt } from 'trpc-gateway/jwt';
import { mcp } from 'trpc-gateway/mcp';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { audience, startIssuer } from '../credentials/issuer.ts';
import { call, revisions, send } from '@petstore/testing/mcpMessages';
import { inProcess } from '../mcp/serveTools.ts';
import { tool } from '../mcp/toolRouter.ts';
import { callMessage, openSocket } from '../socketClient.ts';
import { startShape } from '../startShape.ts';

const clientInfo = { name: 'agent', version: '2.1', title: 'An agent' };
const declared = (info: unknown) => ({ 'io.modelcontextprotocol/clientInfo': info });

/** Serves a procedure to callers with access tokens. Each context, policy and record adds what it sees, in this order. */
async function start() {
  const accepted = await startIssuer();
  const { issuer, jwksUri } = accepted;
  const t = initTRPC.context<{ readonly via: Via }>().meta<GatewayMeta>().create();
  const seen: unknown[] = [];
  const policy: Policy = { settled: ({ via }) => void seen.push(via) };
  const add = t.procedure
    .meta({ openapi: { method: 'POST', path: '/add' }, mcp: { name: 'add_one', description: 'Adds.' } })
    .mutation(({ ctx }) => void seen.push(ctx.via));
  const { server } = await startShape(t.router({ add }), {
    // What it returns of the claims has no client.
    authentication: jwt({ issuer, jwksUri, audience, verify: ({ sub }) => sub }) as never,
    policies: [policy],
    createContext: ({ via }) => ({ via }),
    mcp: mcp(),
    onResponse: ({ via, status }) => void (status !== 101 && seen.push(via)),
  });
  const headers = async (claims: object) => ({
    authorization: `Bearer ${await accepted.sign({ ...claims })}`,
    'content-type': 'application/json',
    'user-agent': 'curl/8.1 (x)',
  });
  return { server, seen, headers };
}

/** What JSON has of the values that a context, a policy and a record have seen: the same for each. */
async function onlyOf(seen: readonly unknown[]): Promise<unknown> {
  await expect.poll(() => seen.length).toBe(3);
  const [first, ...others] = seen.map((each) => JSON.parse(JSON.stringify(each)) as unknown);
  expect(others).toEqual([first, first]);
  return first;
}

it.each(['/v1/add', '/trpc/add'])(
  'POST %s is via its protocol, the User-Agent as the declared client, and the OAuth client of the token',
  async (path) => {
    const { server, seen, headers } = await start();
    const init = { method: 'POST', headers: await headers({ client_id: 'cli', azp: 'other' }) };
    await (await server.fetch(server.origin + path, init)).text();
    const protocol = path.includes('trpc') ? 'trpc' : 'rest';
    expect(await onlyOf(seen)).toEqual({ protocol, client: { name: 'curl/8.1 (x)' }, oauthClient: 'cli' });
  },
);

it('a call on a WebSocket is via the client that opened it', async () => {
  const { server, seen, headers } = await start();
  openSocket(server, '/trpc', await headers({ azp: 'app' })).send(callMessage(1, 'mutation', 'add'));
  const client = { name: 'curl/8.1 (x)' };
  expect(await onlyOf(seen)).toEqual({ protocol: 'trpc', client, oauthClient: 'app' });
});

it.each(revisions)(
  'a call of %s is via the tool, and clientInfo of its _meta as the declared client',
  async (revision) => {
    const { server, seen, headers } = await start();
    const options = { revision, headers: await headers({ client_id: 7 }) };
    await call(server, 'add_one', {}, { ...options, meta: declared(clientInfo) });
    const via = { protocol: 'mcp', tool: 'add_one', client: { name: 'agent', version: '2.1' } };
    expect(await onlyOf(seen.splice(0))).toEqual(via);
    await call(server, 'add_one', {}, options);
    expect(await onlyOf(seen)).toEqual({ ...via, client: { name: 'curl/8.1 (x)' } });
  },
);

it('initialize is via its clientInfo and no tool, an unknown tool is via none, and no token is no OAuth client', async () => {
  const { server, records } = await inProcess({ add: tool.query(() => 1) });
  await send(server, 'initialize', { clientInfo }, { revision: '2025-11-25' });
  await call(server, 'added', {}, { meta: declared(clientInfo) });
  await expect.poll(() => records.length).toBe(2);
  const client = { name: 'agent', version: '2.1' };
  const via = { protocol: 'mcp', tool: undefined, client, oauthClient: undefined };
  expect(records.map((record) => record.via)).toMatchObject([via, via]);
});

it('what a client declares is text of at most 256 characters without control characters, whatever it sends', async () => {
  const { server, records } = await inProcess({ add: tool.query(() => 1) });
  const anyText = fc.string({ unit: 'binary', maxLength: 600 });
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), anyText, anyText, async (value, name, version) => {
      for (const info of [value, { name, version }, { name, version: value }, { name: value }]) {
        await call(server, 'add', {}, { meta: declared(info) });
      }
      for (const { via } of records.splice(0)) {
        for (const text of [via.client?.name, via.client?.version].filter((each) => each !== undefined)) {
          expect(text).toMatch(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,256}$/u);
        }
      }
    }),
  );
  const name = `\u202E${'n'.repeat(300)}`;
  await call(server, 'add', {}, { meta: declared({ name, version: '1\r\n2' }) });
  expect(records).toMatchObject([{ via: { client: { name: 'n'.repeat(255), version: '12' } } }]);
});
