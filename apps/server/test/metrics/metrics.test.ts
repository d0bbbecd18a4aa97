import { readFile } from 'node:fs/promises';
import { compile, type CompilerOptions, everyCompiler } from '@petstore/testing/compile';
import { freePort } from '@petstore/testing/freePort';
import { measuredEventLog, memoryEventLog } from 'trpc-gateway-shared';
import { expect, test, vi } from 'vitest';
import { apiKey } from '../testing/newFolder.ts';
import { type StoreChange, startServerInProcess } from '../testing/startServerInProcess.ts';
import { createPet, listPets } from '../testing/petCalls.ts';

/** Starts a server with metrics. @param change returns replacements for methods of the store */
async function start(change: StoreChange = () => ({})) {
  const ADMIN_PORT = String(await freePort());
  const { origin } = await startServerInProcess({ ADMIN_PORT }, change);
  /** Sends a request with the valid key, unless the headers have another one. */
  const send = async (target: string, init?: RequestInit) => {
    const headers = { authorization: `Bearer ${apiKey}`, ...(init?.headers as Record<string, string>) };
    const response = await fetch(`${origin}${target}`, { ...init, headers });
    await response.arrayBuffer();
    return response.status;
  };
  const page = async () => (await fetch(`http://127.0.0.1:${ADMIN_PORT}/metrics`)).text();
  /** Returns every series with its value. */
  const scrape = async () => {
    const series = (await page()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    return new Map(
      series.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
    );
  };
  return { origin, page, send, scrape };
}

// That failed calls are counted over each protocol: packages/runtime/src/metrics/requestMetrics.test.ts.
const read = (name: string) => readFile(new URL(`../../../../${name}`, import.meta.url), 'utf8');

test.each(['docs/monitoring.md', 'docs/petstore.rules.yml', 'docs/dashboard.json'])(
  'each metric that %s names is exported, but for those of workers, and of events by measuredEventLog',
  async (file) => {
    const { origin, page } = await start();
    await createPet(origin);
    const named = (await read(file)).match(
      /\b(?:petstore|events|process|nodejs)_[a-z_]+[a-z]\b|\$\{prefix\}\w+/g,
    );
    const names = new Set(
      named?.map((name) => name.replace('${prefix}', 'petstore_').replace(/_(?:bucket|count)$/, '')),
    );
    expect(names.size).toBeGreaterThan(5);
    const types = (await page()).matchAll(/^# TYPE (?<name>\S+)/gm);
    const exported = [
      ...measuredEventLog(memoryEventLog()).metrics(),
      ...Array.from(types, ({ groups }) => groups),
    ];
    const known = new Set(exported.map((each) => each?.['name']));
    expect([...names].filter((name) => !known.has(name) && !name.startsWith('petstore_workers'))).toEqual([]);
  },
);

test('docs/dashboard.json has the types of @grafana/schema, and a dashboard with a wrong member has not', async () => {
  const dashboard = await read('docs/dashboard.json');
  const file = (value: string) => `
    import type { Dashboard, Panel, RowPanel } from '@grafana/schema';
    import type * as TimeSeries from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';
    type Graph = Panel<Record<string, unknown>, TimeSeries.FieldConfig> & { type: 'timeseries'; options: TimeSeries.Options };
    // JSON has the text of a member of an enumeration.
    type Json<Value> = Value extends string
      ? \`\${Value}\`
      : Value extends object ? { [Name in keyof Value]: Json<Value[Name]> } : Value;
    export const dashboard: Json<Omit<Dashboard, 'panels'> & { panels: (Graph | RowPanel)[] }> = ${value};`;
  const files = {
    'right.ts': file(dashboard),
    'enumeration.ts': file(dashboard.replace('"placement": "bottom"', '"placement": "below"')),
    'unknown.ts': file(dashboard.replace('"targets"', '"queries"')),
  };
  const [options] = everyCompiler;
  const printed = await compile({ files, packages: 'repository', ...(options as CompilerOptions) });
  expect(new Set(printed.match(/^\w+\.ts/gm))).toEqual(new Set(['enumeration.ts', 'unknown.ts']));
});

test('each alert has a severity, a summary and the link of its runbook', async () => {
  const troubleshooting = await read('docs/troubleshooting.md');
  const alerts = (await read('docs/petstore.rules.yml')).split('- alert: ').slice(1);
  expect(alerts).toHaveLength(10);
  for (const alert of alerts) {
    const [name = ''] = alert.split('\n');
    expect(alert).toMatch(
      /labels: \{ severity: (critical|warning) \}\n {8}annotations:\n {10}summary: '.+\.'\n/,
    );
    expect(alert).toContain(`/docs/troubleshooting.md#${name.toLowerCase()}\n`);
    expect(troubleshooting).toContain(`\n### ${name}\n`);
  }
});

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
        signal?.addEventListener('abort', () => reject(signal.reason));
      }),
  }));
  await expect(listPets(origin, { signal: client.signal })).rejects.toThrow('aborted');
  const aborted = 'petstore_store_errors_total{collection="animals",operation="list",error="aborted"}';
  await vi.waitFor(async () => expect((await scrape()).get(aborted)).toBe(1));
  const count = 'petstore_store_operation_duration_seconds_count{collection="animals",operation="list"}';
  expect((await scrape()).get(count)).toBe(1);
});
