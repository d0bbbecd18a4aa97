import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { startService } from '@petstore/testing/serviceProcess';
import { expect, test } from 'vitest';
import { newShelter } from './testing/newShelter.ts';

test('main.ts without ISSUER prints what is missing and ends with code 1', async () => {
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const env = { PATH: process.env['PATH'] };
  const { exited, stderr } = startService(process.execPath, [main], { env });
  expect(await exited).toEqual({ code: 1, signal: null });
  expect(stderr()).toMatch(/^jwt\b.*issuer.*\n/);
});

test('the shelter has a docs page, and an OpenAPI document that passes the recommended rules of Redocly', async () => {
  const folder = await temporaryFolder();
  const shelter = await newShelter('embedded');
  const file = join(folder, 'openapi.json');
  expect(await (await fetch(`${shelter.origin}/docs`)).text()).toContain('docs/scalar.js');
  await writeFile(file, await (await fetch(`${shelter.origin}/openapi.json`)).text());
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const lint = promisify(execFile)(join(root, 'node_modules/.bin/redocly'), ['lint', file], { cwd: root });
  await expect(lint).resolves.toMatchObject({ stderr: expect.stringContaining('valid') });
});
