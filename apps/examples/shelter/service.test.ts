import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { listening, logLines, type ServiceProcess, startService } from '@petstore/testing/serviceProcess';
import { expect, onTestFinished, test } from 'vitest';
import { startIssuer } from './issuer.ts';
import { newShelter } from './testing/newShelter.ts';
import { readEvents } from './testing/readEvents.ts';

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

test.runIf(process.platform === 'linux')(
  'with WORKERS, the streams of all workers receive the events of each',
  async () => {
    const { accepts, close, token } = await startIssuer();
    onTestFinished(close);
    const { issuer: ISSUER, audience: AUDIENCE, jwksUri: JWKS_URI } = accepts;
    const service = await listening(await start('main.ts', { ISSUER, AUDIENCE, JWKS_URI, WORKERS: '2' }));
    const authorization = `Bearer ${await token('ada', 'animals:write')}`;
    /** Sends a call on a connection of its own, which the kernel gives to one of the workers. */
    const post = async (path: string, body: object) => {
      const headers = { authorization, 'content-type': 'application/json', connection: 'close' };
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      return (await fetch(`${service.origin}/v1${path}`, init)).json();
    };
    const { id: categoryId } = (await post('/categories', { name: 'Dogs' })) as { readonly id: number };
    const streams = Array.from({ length: 8 }, () =>
      readEvents(`${service.origin}/v1/animals/events`, 4, { 'last-event-id': '0' }),
    );
    const animals: unknown[] = [];
    for (const name of ['Max', 'Mia', 'Tom', 'Kim'])
      animals.push(await post('/animals', { name, categoryId }));
    for (const events of await Promise.all(streams)) {
      expect(events.map(({ data }) => (data as { readonly animal: object }).animal)).toEqual(animals);
    }
    const workers = () => logLines(service).filter(({ msg }) => msg === 'worker listening');
    await expect.poll(workers).toHaveLength(2);
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  },
);

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
