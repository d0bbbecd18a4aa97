import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { needs, serve } from '../servers.ts';
import { serveInTest } from './serveTools.ts';
import { createProtectedToolGateway } from './toolRouter.ts';

const start = async () => serveInTest(await createProtectedToolGateway());

type Running = Awaited<ReturnType<typeof start>>;

/** What the tests use of the two clients, whose `callTool` differs. */
interface AnyClient extends Pick<Client, 'listTools' | 'callTool' | 'close'> {
  version(): string | undefined;
}

type Connect = (running: Running, token?: string) => Promise<AnyClient>;

const info = { name: 'test', version: '1.0.0' };

const transportTo = <Transport>(
  Class: new (url: URL, options: object) => Transport,
  { server }: Running,
  token: string | undefined,
) =>
  new Class(new URL(`${server.origin}/mcp`), {
    fetch: server.fetch,
    requestInit: { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } },
  });

const connectNew =
  (versionNegotiation: NonNullable<ClientOptions['versionNegotiation']>): Connect =>
  async (running, token) => {
    const client = new Client(info, { versionNegotiation });
    await client.connect(transportTo(StreamableHTTPClientTransport, running, token));
    return Object.assign(client, { version: () => client.getNegotiatedProtocolVersion() });
  };

const connectOld: Connect = async (running, token) => {
  const client = new OldClient(info);
  const transport = transportTo(OldTransport, running, token);
  await client.connect(transport);
  const callTool = client.callTool.bind(client);
  return Object.assign(client, {
    callTool: (params: never, options: never) => callTool(params, undefined, options),
    version: () => transport.protocolVersion,
  }) as unknown as AnyClient;
};

describe.each<[name: string, connect: Connect, version: string]>([
  [
    '@modelcontextprotocol/client, the current revision',
    connectNew({ mode: { pin: '2026-07-28' } }),
    '2026-07-28',
  ],
  ['@modelcontextprotocol/client, its own choice', connectNew({ mode: 'auto' }), '2026-07-28'],
  ['@modelcontextprotocol/client, the older revision', connectNew({ mode: 'legacy' }), '2025-11-25'],
  ['@modelcontextprotocol/sdk', connectOld, '2025-11-25'],
])('%s', (_name, connect, version) => {
  async function open(token = 'keeper') {
    const running = await start();
    const client = await connect(running, token);
    onTestFinished(() => client.close());
    return { ...running, client };
  }

  it('lists and calls tools', async () => {
    const { client } = await open();
    expect(client.version()).toBe(version);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('books_add');
    const added = await client.callTool({ name: 'books_add', arguments: { id: 1, title: 'A' } });
    expect(added.structuredContent).toEqual({ id: 1, title: 'A' });
    const listed = await client.callTool({ name: 'books_list' });
    expect(listed.content).toMatchObject([{ type: 'text' }]);
    const image = await client.callTool({ name: 'test_image_content' });
    expect(image.content).toMatchObject([{ type: 'image', mimeType: 'image/png' }]);
  });

  it('receives declared, unexpected and input errors as results', async () => {
    const { client } = await open();
    // The client has the output schema, with which it compares structured content.
    await client.listTools();
    for (const [name, args, error] of [
      ['orders_order', { quantity: 3 }, { code: 'OUT_OF_STOCK', data: { left: 2 } }],
      ['fail', {}, { code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error' }],
      ['books_add', { id: 'one' }, { code: 'BAD_REQUEST', status: 400 }],
    ] as const) {
      const result = await client.callTool({ name, arguments: args });
      expect(result.isError).toBe(true);
      expect(JSON.parse(Reflect.get(result.content[0] ?? {}, 'text') as string)).toMatchObject(error);
    }
  });

  it('receives progress, and the last value', async () => {
    const { client } = await open();
    const received: unknown[] = [];
    const result = await client.callTool(
      { name: 'steps', arguments: { count: 3, ms: 20 } },
      { onprogress: ({ progress, message }) => received.push([progress, message]) },
    );
    expect(received).toEqual([
      [1, '{"step":1}'],
      [2, '{"step":2}'],
      [3, '{"step":3}'],
    ]);
    expect(result.content).toMatchObject([{ text: '{"step":3}' }]);
  });

  it('cancels a call', async () => {
    const { client, seen } = await open();
    const controller = new AbortController();
    const calling = client.callTool({ name: 'slow', arguments: { ms: 3000 } }, { signal: controller.signal });
    calling.catch(() => {});
    await expect.poll(() => seen.running).toBe(1);
    controller.abort(new Error('changed my mind'));
    await expect(calling).rejects.toThrow(/abort|changed my mind/i);
    // A client of an older revision sends a notification in a request of its own, which names no call of this server.
    await sleep(500);
    expect(seen.aborted).toHaveLength(version === '2026-07-28' ? 1 : 0);
    const after = await client.callTool({ name: 'books_count' });
    expect(after.content).toMatchObject([{ text: '3' }]);
  });

  it('goes on when another process takes the place of its server', async () => {
    needs('a port');
    const { client, server, valid } = await open();
    const { port } = server;
    await server.close({ timeoutMs: 0, graceMs: 0 });
    const { gateway } = await createProtectedToolGateway({}, { valid });
    const other = await serve(gateway, { port });
    onTestFinished(async () => void (await other.close({ timeoutMs: 0, graceMs: 0 })));
    expect((await client.callTool({ name: 'books_count' })).content).toMatchObject([{ text: '3' }]);
  });

  it('fails with a missing, wrong or revoked token, and without a scope', async () => {
    const running = await start();
    await expect(connect(running)).rejects.toThrow(/unauthorized|401|credential/i);
    await expect(connect(running, 'wrong')).rejects.toThrow(/unauthorized|401|not valid/i);
    const client = await connect(running, 'reader');
    onTestFinished(() => client.close());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('books_secret');
    await expect(client.callTool({ name: 'books_secret' })).rejects.toThrow(/scope|403/i);
    expect((await client.callTool({ name: 'books_count' })).content).toMatchObject([{ text: '3' }]);
    running.valid.delete('reader');
    await expect(client.callTool({ name: 'books_count' })).rejects.toThrow(/unauthorized|401|not valid/i);
  });
});
