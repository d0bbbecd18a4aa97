import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startProcess } from '@petstore/testing/startProcess';
import { expect, onTestFinished, test } from 'vitest';
import { startShelter } from './startShelter.ts';

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'shelter-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test('the first start on a new store creates an API key, which later starts accept and do not return', async () => {
  const dataDir = await newFolder();
  const first = await startShelter({ dataDir });
  await first.close();
  const { origin, firstKey, close } = await startShelter({ dataDir });
  onTestFinished(close);
  expect(firstKey).toBeUndefined();
  const headers = { authorization: `Bearer ${first.firstKey}` };
  expect((await fetch(`${origin}/v1/animals`, { headers })).status).toBe(200);
});

test('the shelter process prints its URLs and first key, and SIGTERM ends it with code 0', async () => {
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const child = startProcess(process.execPath, ['--conditions=@petstore/source', main], {
    env: { PATH: process.env['PATH'], PORT: '0', DATA_DIR: join(await newFolder(), 'data') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise((resolve) => {
    child.once('close', resolve);
  });
  let shown = '';
  child.stderr?.on('data', (chunk) => (shown += String(chunk)));
  if (child.stdout === null) throw new Error('Its stdout is not piped.');
  for await (const line of createInterface(child.stdout)) {
    expect(line).toMatch(/^Shelter: http:\/\/127\.0\.0\.1:\d+\/v1\/animals and http:.*\/openapi\.json$/);
    break;
  }
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(shown).toMatch(/^ {2}psk_\S+$/m);
});

test('the OpenAPI document of the shelter passes the recommended rules of Redocly', async () => {
  const folder = await newFolder();
  const { origin, close } = await startShelter({ dataDir: join(folder, 'data') });
  onTestFinished(close);
  const file = join(folder, 'openapi.json');
  await writeFile(file, await (await fetch(`${origin}/openapi.json`)).text());
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const lint = promisify(execFile)(join(root, 'node_modules/.bin/redocly'), ['lint', file], { cwd: root });
  await expect(lint).resolves.toMatchObject({ stderr: expect.stringContaining('valid') });
}, 60_000);
