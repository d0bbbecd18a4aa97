import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { listening, logLines, type ServiceProcess, startService } from '@petstore/testing/serviceProcess';
import { expect, onTestFinished, test } from 'vitest';
import { newShelter } from './testing/newShelter.ts';

/** Starts `main.ts` or `dev.ts` as a process. */
async function start(program: string, env: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const dataDir = join(await temporaryFolder(), 'data');
  const service = startService(process.execPath, [path], {
    env: { PATH: process.env['PATH'], PORT: '0', DATA_DIR: dataDir, ...env },
  });
  onTestFinished(async () => {
    service.child.kill('SIGKILL');
    await service.exited;
  });
  return service;
}

test('the process of dev.ts logs its addresses, has health checks, metrics, docs and tokens, and SIGTERM ends it with code 0', async () => {
  const service = await listening(await start('dev.ts', { ADMIN_PORT: '0', ISSUER_PORT: '0' }));
  const { origin, stop } = service;
  const logged = logLines(service).find(({ msg }) => msg === 'listening');
  const [admin, issuer] = [String(logged?.['admin']), String(logged?.['issuer'])];
  const body = new URLSearchParams({ user: 'ada', scope: 'adoptions:read' });
  const token = await (await fetch(`${issuer}/token`, { method: 'POST', body })).text();
  const list = await fetch(`${origin}/v1/adoptions`, { headers: { authorization: `Bearer ${token}` } });
  expect([list.status, await list.json()]).toEqual([200, []]);
  expect(await (await fetch(`${admin}/readyz`)).json()).toEqual({ status: 'ok' });
  expect(await (await fetch(`${admin}/metrics`)).text()).toContain(
    'shelter_calls_total{protocol="rest",operation="listAdoptions"} 1\n',
  );
  expect(await (await fetch(`${origin}/docs`)).text()).toContain('docs/scalar.js');
  const document = await fetch(`${origin}/openapi.json`);
  expect([document.headers.get('content-encoding'), await document.json()]).toEqual([
    'gzip',
    expect.objectContaining({ openapi: '3.1.0' }),
  ]);
  expect(await stop()).toEqual({ code: 0, signal: null });
});

test('main.ts without ISSUER prints what is missing and ends with code 1', async () => {
  const { exited, stderr } = await start('main.ts');
  expect(await exited).toEqual({ code: 1, signal: null });
  expect(stderr()).toMatch(/^jwt\b.*issuer.*\n/);
});

test('the OpenAPI document of the shelter passes the recommended rules of Redocly', async () => {
  const folder = await temporaryFolder();
  const shelter = await newShelter('embedded');
  onTestFinished(() => shelter.close());
  const file = join(folder, 'openapi.json');
  await writeFile(file, await (await fetch(`${shelter.origin}/openapi.json`)).text());
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const lint = promisify(execFile)(join(root, 'node_modules/.bin/redocly'), ['lint', file], { cwd: root });
  await expect(lint).resolves.toMatchObject({ stderr: expect.stringContaining('valid') });
});
