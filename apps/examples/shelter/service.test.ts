import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startProcess } from '@petstore/testing/startProcess';
import { expect, onTestFinished, test } from 'vitest';
import { newShelter } from './testing/newShelter.ts';

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'shelter-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts `main.ts` or `dev.ts` as a process. */
async function start(program: string, env: Readonly<Record<string, string>> = {}) {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const child = startProcess(process.execPath, ['--conditions=trpc-gateway-source', path], {
    env: { PATH: process.env['PATH'], PORT: '0', DATA_DIR: join(await newFolder(), 'data'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('Its output is not piped.');
  const ended = new Promise((resolve) => {
    child.once('close', resolve);
  });
  let errors = '';
  stderr.on('data', (chunk) => (errors += String(chunk)));
  return { child, ended, lines: createInterface(stdout), errors: () => errors };
}

/** Returns the log line `listening`. A process of root logs a warning before it. */
async function listeningLine(lines: Interface) {
  for await (const text of lines) {
    const line = JSON.parse(text);
    if (line.msg === 'listening') return line;
  }
  throw new Error('It does not listen.');
}

test('the process of dev.ts logs its addresses, has health checks, metrics, docs and tokens, and SIGTERM ends it with code 0', async () => {
  const { child, ended, lines } = await start('dev.ts', { ADMIN_PORT: '0', ISSUER_PORT: '0' });
  const { origin, admin, issuer } = await listeningLine(lines);
  const body = new URLSearchParams({ user: 'ada', scope: 'adoptions:read' });
  const token = await (await fetch(`${issuer}/token`, { method: 'POST', body })).text();
  const list = await fetch(`${origin}/v1/adoptions`, { headers: { authorization: `Bearer ${token}` } });
  expect([list.status, await list.json()]).toEqual([200, []]);
  expect(await (await fetch(`${admin}/readyz`)).json()).toEqual({ status: 'ok' });
  expect(await (await fetch(`${admin}/metrics`)).text()).toContain(
    'shelter_calls_total{protocol="rest",operation="listAdoptions"} 1\n',
  );
  expect(await (await fetch(`${origin}/docs`)).text()).toContain('docs/scalar.js');
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
});

test('main.ts without ISSUER prints what is missing and ends with code 1', async () => {
  const { ended, errors } = await start('main.ts');
  expect(await ended).toBe(1);
  expect(errors()).toMatch(/^jwt\b.*issuer.*\n/);
});

test('the OpenAPI document of the shelter passes the recommended rules of Redocly', async () => {
  const folder = await newFolder();
  const shelter = await newShelter('embedded');
  onTestFinished(() => shelter.close());
  const file = join(folder, 'openapi.json');
  await writeFile(file, await (await fetch(`${shelter.origin}/openapi.json`)).text());
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const lint = promisify(execFile)(join(root, 'node_modules/.bin/redocly'), ['lint', file], { cwd: root });
  await expect(lint).resolves.toMatchObject({ stderr: expect.stringContaining('valid') });
}, 60_000);
