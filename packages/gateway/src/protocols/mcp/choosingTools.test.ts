import { initTRPC } from '@trpc/server';
import { expect, it, vi } from 'vitest';
import type { GatewayMeta } from '../../procedures/meta.ts';
import { t, testGateway } from '../../testing/testGateway.ts';
import { call, callTool, listTools, send } from '@petstore/testing/mcpMessages';
import { mcp } from './index.ts';

const described = { mcp: { description: 'A tool of the tests.' } };

it('tools chooses procedures without mcp in their metadata, by path, type and metadata', async () => {
  const own = initTRPC.meta<GatewayMeta & { readonly docs?: string }>().create();
  const procedure = own.procedure;
  const router = own.router({
    books: own.router({
      find: procedure.meta({ docs: 'Finds a book.' }).query(() => 1),
      add: procedure.mutation(() => 1),
      hidden: procedure.meta({ docs: 'Hides.', mcp: false }).query(() => 1),
      named: procedure.meta({ docs: 'No.', mcp: { name: 'own', description: 'Its own.' } }).query(() => 1),
    }),
    ping: procedure.meta({ docs: 'Pings.' }).query(() => 1),
  });
  const gateway = await testGateway(router, {
    mcp: mcp<GatewayMeta & { readonly docs?: string }>({
      tools: ({ path, type, meta }) =>
        path.startsWith('books.') && type === 'query' && { description: meta?.docs ?? '' },
    }),
  });
  expect(await listTools(gateway)).toMatchObject([
    { name: 'books_find', description: 'Finds a book.' },
    { name: 'own', description: 'Its own.' },
  ]);
  expect(await callTool(gateway, 'books_find')).toMatchObject({ content: [{ text: '1' }] });
});

it('tools may return true, and its metadata is checked as that of a procedure', async () => {
  const router = t.router({ ping: t.procedure.meta({ openapi: { summary: 'Pings.' } }).query(() => 1) });
  const gateway = await testGateway(router, { mcp: mcp({ tools: () => true }) });
  expect(await listTools(gateway)).toMatchObject([{ name: 'ping', description: 'Pings.' }]);
  const misspelt = mcp({ tools: () => ({ descripton: 'Pings.' }) as never });
  await expect(testGateway(router, { mcp: misspelt })).rejects.toThrow(
    'Procedure "ping": "descripton" is not an option of mcp; did you mean "description"?',
  );
});

it.each<[returned: unknown, found: string]>([
  ['yes', '"yes"'],
  [Promise.resolve(true), 'a promise'],
])('createGateway rejects %j from tools', async (returned, found) => {
  const router = t.router({ ping: t.procedure.query(() => 1) });
  await expect(testGateway(router, { mcp: mcp({ tools: () => returned as never }) })).rejects.toThrow(
    `tools of mcp() returned ${found} for procedure "ping"; it must return true, false or metadata, such as { description: 'Adds a pet.' }.`,
  );
});

it('the instructions of the server are in what it says of itself, in each revision', async () => {
  const router = t.router({ ping: t.procedure.meta(described).query(() => 1) });
  const instructions = 'Ping before you pong.';
  const gateway = await testGateway(router, { mcp: mcp({ instructions }) });
  const saysOfItself = async (...args: Parameters<typeof send>) => (await send(...args)).message?.result;
  expect(await saysOfItself(gateway, 'server/discover')).toMatchObject({ instructions });
  const params = { protocolVersion: '2025-11-25' };
  expect(await saysOfItself(gateway, 'initialize', params, { revision: '2025-11-25' })).toMatchObject({
    instructions,
  });
  const without = await testGateway(router, { mcp: mcp() });
  expect(await saysOfItself(without, 'server/discover')).not.toHaveProperty('instructions');
});

it('createGateway says how large a list of tools is, how that is estimated, and which are the largest', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  const sized = (size: number) => t.procedure.meta({ mcp: { description: 'a'.repeat(size) } }).query(() => 1);
  const router = t.router({ small: sized(10), large: sized(39_800), middle: sized(400), tiny: sized(1) });
  const gateway = await testGateway(router, { mcp: mcp() });
  const entries = (await listTools(gateway)).map((tool) => JSON.stringify(tool));
  const tokens = Math.ceil(entries.join('').length / 4);
  expect(tokens).toBeGreaterThan(10_000);
  const sizeOf = (at: number) => Math.ceil((entries[at] ?? '').length / 4);
  expect(log.mock.calls.splice(0)).toEqual([
    [
      `trpc-gateway: the list of 4 tools has about ${tokens} tokens (its JSON has 4 characters for each), which most clients send to the model with each request. Choose fewer in mcp({ tools: ({ path }) => … }), or with scopes; the largest are large (${sizeOf(1)}), middle (${sizeOf(2)}), small (${sizeOf(0)}).`,
    ],
  ]);
});

it.each<[tools: number, letters: number, end: string]>([
  [441, 9, 'Did you mean pet_440_a?'],
  // A gateway whose tools are all public responds so to anyone.
  [441, 40, 'tools/list has the names of the tools.'],
])(
  'of %i tools with names of %i letters, the error of an unknown one names a similar one if at most 40,000 pairs of letters are compared',
  async (tools, letters, end) => {
    const names = Array.from({ length: tools }, (_, at) =>
      `pet_${String(at).padStart(3, '0')}_`.padEnd(letters, 'a'),
    );
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    const ping = t.procedure.meta(described).query(() => 1);
    const gateway = await testGateway(t.router(Object.fromEntries(names.map((name) => [name, ping]))), {
      mcp: mcp(),
    });
    // A line names the size of the list.
    log.mockClear();
    const unknown = `${names.at(-1)?.slice(0, -1)}b`;
    const { message } = await call(gateway, unknown);
    expect(message?.error).toEqual({ code: -32_602, message: `Unknown tool: ${unknown}. ${end}` });
  },
);
