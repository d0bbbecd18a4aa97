import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { StoreError } from '@petstore/core';
import { reservePort } from 'trpc-gateway/serve';
import { describe, expect, test, vi } from 'vitest';
import { apiKey } from '../testing/newFolder.ts';
import { type StoreChange, startServerInProcess } from '../testing/startServerInProcess.ts';
import { listPets, openSocket } from '../testing/petCalls.ts';

/**
 * Starts a server with metrics.
 * @param change returns replacements for methods of the store
 */
async function start(change: StoreChange = () => ({})) {
  const reserved = await reservePort('127.0.0.1', 0, false);
  reserved.release();
  const admin = `http://127.0.0.1:${reserved.port}`;
  const { origin } = await startServerInProcess({ ADMIN_PORT: String(reserved.port) }, change);
  /** Sends a request with the valid key, unless the headers have another one. */
  const send = async (target: string, init?: RequestInit) => {
    const headers = { authorization: `Bearer ${apiKey}`, ...(init?.headers as Record<string, string>) };
    const response = await fetch(`${origin}${target}`, { ...init, headers });
    await response.arrayBuffer();
    return response.status;
  };
  /** Returns every series with its value. */
  const scrape = async () => {
    const text = await (await fetch(`${admin}/metrics`)).text();
    const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(
      series.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
    );
  };
  return {
    origin,
    send,
    post: (target: string, body: unknown) =>
      send(target, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    scrape,
  };
}

/** Reads the expression of the alert from the page. */
async function petstoreErrors(): Promise<string> {
  const page = await readFile(new URL('../../../../docs/monitoring.md', import.meta.url), 'utf8');
  const [, expression = ''] = /alert: PetstoreErrors[^]*?expr: ([^]*?)\n\s+for:/.exec(page) ?? [];
  return expression;
}

/**
 * Evaluates an alert with the form `sum by (protocol) (rate(A[5m])) > 0.01 * sum by (protocol) (rate(B[5m]))`, once or
 * several times joined by `or`.
 */
function isFiring(alert: string, before: Map<string, number>, after: Map<string, number>): boolean {
  const increase = (selector: string, protocol: string) => {
    const [, name, labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(selector) ?? [];
    const [, label, pattern] = /^(\w+)=~?"(.*)"$/.exec(labels) ?? [];
    const matches = new RegExp(label === undefined ? '' : `[{,]${label}="(?:${pattern})"`);
    return (
      [...after]
        .filter(([series]) => series.startsWith(`${name}{`) && matches.test(series))
        .filter(([series]) => series.includes(`protocol="${protocol}"`))
        // As `rate()`, which needs a first sample.
        .reduce((sum, [series, value]) => sum + value - (before.get(series) ?? value), 0)
    );
  };
  const rate = String.raw`sum by \(protocol\) \(rate\(([^[]+)\[5m\]\)\)`;
  const terms = [...alert.matchAll(new RegExp(`${rate} > 0\\.01 \\* ${rate}`, 'g'))];
  expect(terms).toHaveLength(2);
  return terms.some(([, failed = '', all = '']) =>
    ['rest', 'trpc', 'websocket', 'mcp', 'other'].some(
      (protocol) => increase(failed, protocol) > 0.01 * increase(all, protocol),
    ),
  );
}

describe('requests', () => {
  test.each([
    ['is silent if no call fails', [], false],
    ['is silent if a batch has a call of an unknown procedure', ['unknown'], false],
    ['fires if a tool fails, among 150 REST requests that do not', ['mcp'], true],
    [
      'fires if a tool fails since the store is unavailable',
      ['mcp', new StoreError('unavailable', 'away')],
      true,
    ],
    ['fires if one call of a batch fails', ['batch'], true],
    ['fires if one call on a WebSocket fails', ['socket'], true],
    ['fires if a REST request fails', ['rest'], true],
  ] as const)(
    'the alert PetstoreErrors of docs/monitoring.md %s',
    async (_, [failing, error = new Error('disk on fire')], fires) => {
      let isBroken = false;
      const server = await start((store) => ({
        async list(query) {
          if (isBroken) throw error;
          return store.list(query);
        },
      }));
      const { post, scrape, send } = server;
      const tool = {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'listPets', arguments: {} },
      };
      const socket = await openSocket(server.origin);
      const requests = {
        mcp: () => post('/mcp', tool),
        batch: () => send('/trpc/getPet,listPets?batch=1&input={"0":7}'),
        rest: () => send('/v1/pets'),
        unknown: () => send('/trpc/listPets,nothing?batch=1'),
        async socket() {
          socket.send(JSON.stringify({ id: 1, method: 'query', params: { path: 'listPets' } }));
          await once(socket, 'message');
        },
      };
      for (const request of Object.values(requests)) await request();
      const before = await scrape();
      isBroken = failing !== undefined && failing !== 'unknown';
      if (failing) await requests[failing]();
      const others = failing === 'mcp' ? 150 : 0;
      await Promise.all(Array.from({ length: others }, () => send('/v1/pets/7')));
      expect(isFiring(await petstoreErrors(), before, await scrape())).toBe(fires);
    },
  );

  test('requests with arbitrary paths, methods and headers add no series', async () => {
    const { send, scrape } = await start();
    const madeUp = async (at: number) => {
      await send(`/v1/made-up-${at}`);
      await send(`/made-up-${at}`);
      await send(`/trpc/made-up-${at}`);
      await send(`/trpc/made-up-${at},listPets?batch=1`);
      await send('/v1/pets', { method: `MADEUP${at}` });
      await send(`/v1/pets?made-up=${at}`, { headers: { 'x-request-id': `made-up-${at}` } });
    };
    await madeUp(0);
    const before = [...(await scrape()).keys()].filter((name) => name.startsWith('petstore_'));
    for (let at = 1; at <= 50; at += 1) await madeUp(at);
    const after = [...(await scrape()).keys()].filter((name) => name.startsWith('petstore_'));
    expect(after).toEqual(before);
    expect(after.join('\n')).not.toMatch(/made-?up/i);
  });
});

test('petstore_remembered_keys and petstore_rejected_tokens are the sizes of the caches of valid and invalid keys', async () => {
  const { send, scrape } = await start((store) => ({
    keys: {
      ...store.keys,
      find: (hash) => ({ hash, name: 'any', createdAt: 1 }),
    },
  }));
  await send('/v1/pets', { headers: { authorization: 'Bearer one' } });
  await send('/v1/pets', { headers: { authorization: 'Bearer two' } });
  const series = await scrape();
  expect(series.get('petstore_remembered_keys')).toBe(2);
  expect(series.get('petstore_rejected_tokens')).toBe(0);
});

test('operations of the store are measured, and one of a disconnected client is counted as aborted', async () => {
  const client = new AbortController();
  const { origin, scrape } = await start(() => ({
    list: (_query, { signal } = {}) =>
      new Promise((_, reject) => {
        client.abort();
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- the reason is what a store throws
        signal?.addEventListener('abort', () => reject(signal.reason));
      }),
  }));
  await expect(listPets(origin, { signal: client.signal })).rejects.toThrow('aborted');
  const aborted = 'petstore_store_errors_total{collection="animals",operation="list",error="aborted"}';
  await vi.waitFor(async () => expect((await scrape()).get(aborted)).toBe(1));
  const count = 'petstore_store_operation_duration_seconds_count{collection="animals",operation="list"}';
  expect((await scrape()).get(count)).toBe(1);
});
