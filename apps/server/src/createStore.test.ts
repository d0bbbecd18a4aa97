import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { apiKey, type Folder, newFolder } from './testing/newFolder.ts';
import { logLines } from './testing/petStoreProcess.ts';
import { canRunUnprivileged, unprivilegedUser } from './testing/unprivilegedUser.ts';

const never = { CREATE_STORE: 'never' };
const keyLine = /^psk_[\w-]{43}\n$/;

/** The error of a start, and of `--check`, without a store. */
const missing = ({ dataDir }: Folder) =>
  `There is no store in the data folder ${dataDir}, and CREATE_STORE is "never". Mount or restore the folder, or create a new store with the command init.\n`;

describe('CREATE_STORE=never', () => {
  test.each([
    ['a start without its data folder', [], {}],
    ['a start with WORKERS=2 without its data folder', [], { WORKERS: '2' }],
    ['--check without its data folder', ['--check'], {}],
  ])('with CREATE_STORE=never %s exits with code 1 and creates nothing', async (_, args, env) => {
    const folder = await newFolder();
    const ended = await folder.command(args, { env: { ...never, ...env } });
    expect(ended).toEqual({ code: 1, signal: null, stdout: '', stderr: missing(folder) });
    expect(existsSync(folder.dataDir)).toBe(false);
  });

  test('with CREATE_STORE=never a start on an empty folder, such as that of a missing mount, exits with code 1', async () => {
    const folder = await newFolder();
    await mkdir(folder.dataDir, { mode: 0o700 });
    const { code, stderr } = await folder.command([], { env: never });
    expect({ code, stderr }).toEqual({ code: 1, stderr: missing(folder) });
    expect(await readdir(folder.dataDir)).toEqual([]);
  });

  test('with CREATE_STORE=never a service whose data folder is removed does not start again', async () => {
    const folder = await newFolder();
    await folder.command(['init'], { env: never });
    const server = await folder.serve({ env: never });
    await rm(folder.dataDir, { recursive: true });
    expect(await server.exited).toEqual({ code: 1, signal: null });
    const { code, stderr } = await folder.command([], { env: never });
    expect({ code, stderr }).toEqual({ code: 1, stderr: missing(folder) });
  });

  test('with CREATE_STORE=never keys add creates no store', async () => {
    const { command, dataDir } = await newFolder();
    const { code, stderr } = await command(['keys', 'add', 'ci'], { env: never });
    expect({ code, stderr }).toEqual({ code: 1, stderr: `There is no store at ${dataDir}.\n` });
    expect(existsSync(dataDir)).toBe(false);
  });
});

describe('init', () => {
  test.each([
    ['', {}],
    [' with WORKERS=2', { WORKERS: '2' }],
  ])('init prints the first key, and a start with CREATE_STORE=never%s serves it', async (_, env) => {
    const { command, serve } = await newFolder();
    const { stdout, ...ended } = await command(['init'], { env: never });
    expect([ended, stdout]).toEqual([{ code: 0, signal: null, stderr: '' }, expect.stringMatching(keyLine)]);
    const { origin, stderr } = await serve({ env: { ...never, ...env } });
    const headers = { authorization: `Bearer ${stdout.trim()}` };
    expect((await fetch(`${origin}/v1/pets`, { headers })).status).toBe(200);
    expect(stderr()).toBe('');
  });

  test('init with API_KEY creates a store without a key', async () => {
    const { command, dataDir } = await newFolder();
    const { code, stdout } = await command(['init'], { env: { API_KEY: apiKey } });
    expect([code, stdout]).toEqual([
      0,
      `Created a store without a key in the data folder ${dataDir}, because API_KEY is set.\n`,
    ]);
    expect((await command(['keys', 'list'], { env: never })).code).toBe(0);
  });

  test.each([{}, { API_KEY: apiKey }])(
    'init with %o fails if there is a store, and adds no key',
    async (env) => {
      const { command, dataDir } = await newFolder();
      await command(['init']);
      const keys = await command(['keys', 'list']);
      expect(await command(['init'], { env })).toEqual({
        code: 1,
        signal: null,
        stdout: '',
        stderr: `There is already a store in the data folder ${dataDir}. Nothing was changed.\n`,
      });
      expect(await command(['keys', 'list'])).toEqual(keys);
    },
  );

  test.skipIf(!canRunUnprivileged)(
    'init fails with the reason if the data folder cannot be read, and does not say that it has a store',
    async () => {
      const { command, dataDir } = await newFolder();
      await chmod(dirname(dataDir), 0o755);
      await mkdir(dataDir, { mode: 0o000 });
      if (unprivilegedUser.uid !== undefined)
        await chown(dataDir, unprivilegedUser.uid, unprivilegedUser.uid);
      expect(await command(['init'], unprivilegedUser)).toEqual({
        code: 1,
        signal: null,
        stdout: '',
        stderr: `This user cannot read and write the data folder ${dataDir} (EACCES: petstore.mdb). Grant access, or choose another folder.\n`,
      });
    },
  );
});

test.each([
  ['listening', {}],
  ['worker listening', { WORKERS: '2' }],
])('the log line "%s" says whether this start created the store', async (msg, env) => {
  const { serve } = await newFolder();
  const created: unknown[] = [];
  for (let start = 0; start < 2; start += 1) {
    const server = await serve({ env: { API_KEY: apiKey, ...env } });
    created.push(logLines(server).find((line) => line.msg === msg)?.['created']);
    await server.stop();
  }
  expect(created).toEqual([true, false]);
});
