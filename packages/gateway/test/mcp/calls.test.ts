import { TRPCError } from '@trpc/server';
import { describe, expect, it } from 'vitest';
import type { Policy, ReportedError } from 'trpc-gateway';
import { call, errorOf, post, revisions, send } from '@petstore/testing/mcpMessages';
import { toolServers } from './serveTools.ts';

const start = toolServers();

describe.each(revisions)('results in %s', (revision) => {
  const options = { revision };
  const complete = revision === '2026-07-28' ? { resultType: 'complete' } : {};

  it('an object of an output schema is text and structured content', async () => {
    const { server, records } = await start();
    const reply = await call(server, 'books_add', { id: 1, title: 'A "book"' }, options);
    expect(reply.status).toBe(200);
    expect(reply.message?.result).toEqual({
      content: [{ type: 'text', text: '{"id":1,"title":"A \\"book\\""}' }],
      structuredContent: { id: 1, title: 'A "book"' },
      ...complete,
    });
    await expect.poll(() => records.length).toBe(1);
    expect(records[0]).toMatchObject({
      protocol: 'mcp',
      method: 'POST',
      path: '/mcp',
      operation: 'books.add',
      procedures: ['books.add'],
      calls: 1,
      status: 200,
      isStream: false,
      error: undefined,
    });
  });

  it.each([
    ['books_list', { limit: 1 }, ['[{"id":0,"title":"Book 0"}]']],
    ['books_count', undefined, ['3']],
    ['expensive', undefined, ['{"done":true}']],
    ['test_simple_text', {}, ['This is a simple text response for testing.']],
    // No output is no content.
    ['drop-book', { id: 1 }, []],
    ['steps', { count: 0 }, []],
  ])('the output of %s, which has no schema of an object, is text', async (name, args, texts) => {
    const { server } = await start();
    const { message } = await call(server, name, args, options);
    expect(message?.result).toEqual({ content: texts.map((text) => ({ type: 'text', text })), ...complete });
  });

  it.each([
    [
      'orders_order',
      { quantity: 3 },
      { code: 'OUT_OF_STOCK', message: 'Too few are left.', status: 409, data: { left: 2 } },
    ],
    ['drop-book', { id: 404 }, { code: 'NOT_FOUND', message: 'There is no book 404.', status: 404 }],
    ['books_add', { id: 1 }, { code: 'BAD_REQUEST', message: 'title: is required.', status: 400 }],
    ['fail', {}, { code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error', status: 500 }],
    [
      'hurried',
      {},
      {
        code: 'GATEWAY_TIMEOUT',
        message: 'The call timed out after 30 ms. Whether it had an effect is unknown.',
        status: 504,
      },
    ],
  ])('the error of %s with %j is a result', async (name, args, error) => {
    const reported: ReportedError<unknown>[] = [];
    const { server, records } = await start({ onError: (each) => reported.push(each) });
    const reply = await call(server, name, args, options);
    expect(reply.status).toBe(200);
    expect(errorOf(reply)).toEqual(error);
    expect(reply.message?.result?.['structuredContent']).toEqual(
      revision === '2026-07-28' ? error : undefined,
    );
    expect(reported).toMatchObject([{ path: expect.any(String) as string, request: { path: '/mcp' } }]);
    await expect.poll(() => records.length).toBe(1);
    expect(records[0]?.error === undefined).toBe(error.status !== 500);
    expect(records[0]?.limit).toBe(error.status === 504 ? 'call-timeout' : undefined);
  });

  it('the values of a subscription are progress, and the last one is the result', async () => {
    const { server, records } = await start();
    const reply = await call(server, 'steps', { count: 3 }, { ...options, meta: { progressToken: 'p' } });
    expect(reply.headers.get('content-type')).toBe('text/event-stream');
    const progress = reply.messages.slice(0, -1);
    expect(progress).toEqual(
      [1, 2, 3].map((step) => ({
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: 'p', progress: step, message: `{"step":${step}}` },
      })),
    );
    expect(reply.message).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: {
        content: [{ type: 'text', text: '{"step":3}' }],
        ...complete,
      },
    });
    await expect.poll(() => records.length).toBe(1);
    expect(records[0]).toMatchObject({ isStream: true, calls: 1, operation: 'steps' });
  });

  it('a progress token of more than 256 characters is no request for progress', async () => {
    const { server } = await start();
    for (const [length, count] of [
      [256, 3],
      [257, 1],
    ] as const) {
      const meta = { progressToken: 'p'.repeat(length) };
      const { messages } = await call(server, 'steps', { count: 2 }, { ...options, meta });
      expect(messages).toHaveLength(count);
    }
  });

  it('the error of a subscription is its result', async () => {
    const { server } = await start();
    const reply = await call(server, 'steps', { fails: true }, options);
    expect(errorOf(reply)).toEqual({ code: 'CONFLICT', message: 'The steps are blocked.', status: 409 });
  });

  it('closing the response aborts the call', async () => {
    const { server, seen, records } = await start();
    for (const [name, args] of [
      ['slow', { ms: 20_000 }],
      ['steps', { ms: 50, count: 1000 }],
      ['drip', {}],
    ] as const) {
      seen.aborted.length = 0;
      records.length = 0;
      const controller = new AbortController();
      const calling = call(server, name, args, { ...options, init: { signal: controller.signal } });
      calling.catch(() => {});
      await expect.poll(() => seen.running).toBe(1);
      controller.abort();
      await expect(calling).rejects.toThrow(/abort/i);
      await expect.poll(() => seen.aborted.length).toBe(1);
      await expect.poll(() => seen.running).toBe(0);
    }
  });
});

describe('policies', () => {
  it.each(revisions)('a call takes its cost from the rate limit, in %s', async (revision) => {
    const { server } = await start({ rateLimit: { calls: 7, windowMs: 3_600_000 } });
    expect((await call(server, 'expensive', {}, { revision })).status).toBe(200);
    const limited = await call(server, 'expensive', {}, { revision, id: 'x' });
    expect([limited.status, limited.message?.error?.code]).toEqual([429, -32_600]);
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await call(server, 'books_count', {}, { revision })).status).toBe(200);
  });

  it('the name of a cheap tool in the head of an older revision pays nothing for an expensive one', async () => {
    const { server } = await start({ rateLimit: { calls: 7, windowMs: 3_600_000 } });
    const headers = { 'mcp-method': 'tools/call', 'mcp-name': 'books_count' };
    const options = { revision: '2025-11-25', headers } as const;
    expect((await call(server, 'expensive', {}, options)).status).toBe(200);
    expect((await call(server, 'expensive', {}, options)).status).toBe(429);
  });

  it.each(revisions)('a policy of the service sees the tool, and rejects it, in %s', async (revision) => {
    const seenPaths: string[][] = [];
    const policy: Policy = {
      admit({ procedures, protocol }) {
        seenPaths.push([protocol, ...procedures.map(({ path }) => path)]);
        return procedures.some(({ path }) => path === 'books.count')
          ? new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: 'Back soon.' })
          : undefined;
      },
    };
    const { server } = await start({ policies: [policy] });
    const reply = await call(server, 'books_count', {}, { revision });
    expect([reply.status, reply.message?.error?.message]).toEqual([503, 'Back soon.']);
    expect(reply.headers.has('retry-after')).toBe(true);
    expect((await send(server, 'tools/list', {}, { revision })).status).toBe(200);
    // Once for each message.
    expect(seenPaths).toEqual([['mcp', 'books.count'], ['mcp']]);
  });

  it.each(revisions)(
    'a caller whom a policy of the service rejects learns nothing, in %s',
    async (revision) => {
      const policy: Policy = { admit: () => new TRPCError({ code: 'FORBIDDEN', message: 'Suspended.' }) };
      const { server } = await start({ policies: [policy] });
      const options = { revision };
      const replies = [
        await send(server, 'tools/list', {}, options),
        await send(server, 'tools/call', { name: 'books_count' }, options),
        await call(server, 'unknown', {}, options),
        await send(server, 'tools/call', { name: 'books_count', arguments: 1 }, options),
        await send(server, 'tools/call', {}, options),
        await send(server, 'unknown/method', {}, options),
        await post(server, JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })),
        await post(server, JSON.stringify({ jsonrpc: '1.0' })),
        await post(server, '{'),
      ];
      expect(replies.map(({ status, message }) => [status, message?.error?.message])).toEqual(
        replies.map(() => [403, 'Suspended.']),
      );
    },
  );

  it('a policy of the service sees the tool of a call whose arguments are invalid', async () => {
    const seenPaths: string[][] = [];
    const { server } = await start({
      policies: [{ admit: ({ procedures }) => void seenPaths.push(procedures.map(({ path }) => path)) }],
    });
    const reply = await send(server, 'tools/call', { name: 'books_count', arguments: 1 });
    expect(reply.message?.error?.message).toMatch('params.arguments is 1');
    expect((await call(server, 'unknown')).message?.error?.message).toMatch('Unknown tool');
    expect(seenPaths).toEqual([['books.count'], []]);
  });
});
