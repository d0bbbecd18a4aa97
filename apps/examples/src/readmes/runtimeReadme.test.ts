import type { RunOptions } from 'trpc-gateway-runtime';
import { freePort } from '@petstore/testing/freePort';
import { expect, test } from 'vitest';
import { curlLines, databaseFile, firstColumn, newSnippets, readReadme } from './readme.ts';

const readme = await readReadme('packages/runtime/README.md');

test('the README of trpc-gateway-runtime lists every option of run', () => {
  const options = {
    start: true,
    server: true,
    listen: true,
    log: true,
    telemetry: true,
    docs: true,
    admin: true,
    workers: true,
    preventRestart: true,
    explain: true,
    expectedErrors: true,
  } satisfies Record<keyof RunOptions, true>;
  expect(firstColumn(readme, 'Options of `run`')).toEqual(Object.keys(options));
});

test('the server in the README of trpc-gateway-runtime compiles, and has health checks, metrics and a docs page', async () => {
  const [program = ''] = readme.blocks('ts');
  const [router = ''] = (await readReadme('packages/gateway/README.md')).blocks('ts');
  const [port, adminPort] = [await freePort(), await freePort()];
  const { write, compile, start } = await newSnippets();
  await write({
    // One process: with workers it listens before all of them have started, and they outlive the folder.
    'server.ts': program
      .replace('3000', String(port))
      .replace('9090', String(adminPort))
      .replace("'auto'", '1'),
    'router.ts': router,
    'database.ts': databaseFile,
  });
  await compile();
  await start('server.ts', port);
  const origin = `http://127.0.0.1:${port}`;
  expect(await (await fetch(`${origin}/v1/books/1`)).json()).toEqual({ id: 1, title: 'Middlemarch' });
  expect(await (await fetch(`${origin}/docs`)).text()).toContain('docs/scalar.js');
  const admin = `http://127.0.0.1:${adminPort}`;
  const [[, ready] = []] = curlLines(readme.text);
  expect(await (await fetch(`${admin}/readyz`)).text()).toBe(ready);
  expect(await (await fetch(`${admin}/metrics`)).text()).toContain(
    'gateway_calls_total{protocol="rest",operation="book"} 1\n',
  );
});
