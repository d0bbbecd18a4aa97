import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import type { Configuration } from '../configuration/configuration.ts';
import { describe, expect, test } from 'vitest';
import { apiKey, newFolder } from '../../test/testing/newFolder.ts';
import { logLines } from '@petstore/testing/serviceProcess';
import { startAndStop } from '../../test/testing/startServerInProcess.ts';
import { runCheck } from './check.ts';
import { runInit } from './init.ts';
import { runKeys } from './keys.ts';
import { listPets } from '../../test/testing/petCalls.ts';

const never = { CREATE_STORE: 'never' };
const addKey = (configuration: Configuration) =>
  runKeys({ run: 'keys add', name: 'ci', expires: undefined }, configuration);
const listKeys = (configuration: Configuration) => runKeys({ run: 'keys list' }, configuration);

describe('CREATE_STORE=never', () => {
  test.each([
    ['keys add without a data folder', addKey, false],
    ['a start without it', startAndStop, false],
    ['--check without it', (configuration: Configuration) => runCheck(configuration, {}), false],
    ['a start on an empty folder, such as that of a missing mount,', startAndStop, true],
  ])('with CREATE_STORE=never %s fails and creates nothing', async (_, run, hasFolder) => {
    const { dataDir, inProcess } = await newFolder();
    if (hasFolder) await mkdir(dataDir, { mode: 0o700 });
    const stderr: unknown = expect.stringMatching(`^There is no store [ a-z]+ ${dataDir}[.,]`);
    expect(await inProcess(run, never)).toMatchObject({ code: 1, stdout: '', stderr });
    expect(existsSync(dataDir) && (await readdir(dataDir))).toEqual(hasFolder && []);
  });

  test('with CREATE_STORE=never a start with WORKERS=2 without its data folder exits with code 1', async () => {
    const { command, dataDir } = await newFolder();
    expect(await command([], { env: { ...never, WORKERS: '2' } })).toEqual({
      code: 1,
      signal: null,
      stdout: '',
      stderr: `There is no store in the data folder ${dataDir}, and CREATE_STORE is "never". Mount or restore the folder, or create a new store with the command init.\n`,
    });
    expect(existsSync(dataDir)).toBe(false);
  });
});

describe('init', () => {
  test('init prints the first key, and workers with CREATE_STORE=never serve its store', async () => {
    const { command, serve } = await newFolder();
    const { stdout, ...ended } = await command(['init'], { env: never });
    expect(ended).toEqual({ code: 0, signal: null, stderr: '' });
    expect(stdout).toMatch(/^psk_[\w-]{43}\n$/);
    const server = await serve({ env: { ...never, WORKERS: process.platform === 'linux' ? '2' : '1' } });
    expect((await listPets(server.origin, { key: stdout.trim() })).status).toBe(200);
    expect(server.stderr()).toBe('');
    expect(logLines(server).filter(({ created }) => created !== undefined)).not.toContainEqual(
      expect.objectContaining({ created: true }),
    );
  });

  test('init with API_KEY creates a store without a key', async () => {
    const { inProcess, dataDir } = await newFolder();
    const { code, stdout } = await inProcess(runInit, { API_KEY: apiKey });
    expect([code, stdout]).toEqual([
      0,
      `Created a store without a key in the data folder ${dataDir}, because API_KEY is set.\n`,
    ]);
    expect((await inProcess(listKeys, never)).stdout).not.toContain('first');
  });

  test('init fails if there is a store, and adds no key', async () => {
    const { inProcess, dataDir } = await newFolder();
    await inProcess(runInit);
    const keys = await inProcess(listKeys);
    expect(await inProcess(runInit)).toEqual({
      code: 1,
      signal: null,
      stdout: '',
      stderr: `There is already a store in the data folder ${dataDir}. Nothing was changed.\n`,
    });
    expect(await inProcess(listKeys)).toEqual(keys);
  });

  test.each([
    ['', undefined, 'petstore'],
    ['/', undefined, 'petstore'],
    ['/admin?tls=false', undefined, 'petstore'],
    ['/pets?tls=false', undefined, 'pets'],
    ['/pets', 'other', 'other'],
  ])(
    'init with MONGODB_URI=mongodb://127.0.0.1:1%s and MONGODB_DB=%s fails with the reason if the database %s is unavailable',
    async (path, name, database) => {
      const { inProcess } = await newFolder();
      const MONGODB_URI = `mongodb://127.0.0.1:1${path}`;
      const env = { MONGODB_URI, MONGODB_TIMEOUT_MS: '100', ...(name && { MONGODB_DB: name }) };
      const { code, stderr } = await inProcess(runInit, env);
      const reason = new RegExp(
        `^The database ${database} at 127\\.0\\.0\\.1:1 is unavailable.*ECONNREFUSED`,
      );
      expect([code, stderr]).toEqual([1, expect.stringMatching(reason)]);
    },
  );

  test('init fails with the reason if the data cannot be opened, and does not say that it has a store', async () => {
    const { inProcess, dataDir } = await newFolder();
    await mkdir(dataDir, { mode: 0o700 });
    await writeFile(`${dataDir}/petstore.mdb`, 'x');
    const { code, stderr } = await inProcess(runInit);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`The data in ${dataDir} is damaged`)]);
  });
});
