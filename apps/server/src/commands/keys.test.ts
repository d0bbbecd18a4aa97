import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { readConfiguration } from '../configuration/configuration.ts';
import { openStore } from '../store/openStore.ts';
import { type Folder, newFolder, sharedServer } from '../../test/testing/newFolder.ts';
import { type KeysCommand, runKeys } from './keys.ts';
import { listPets, openSocket } from '../../test/testing/petCalls.ts';

const status = async (origin: string, key: string) => (await listPets(origin, { key })).status;

const add = (name: string, expires?: string): KeysCommand => ({ run: 'keys add', name, expires });

/** Runs a command in this process. */
const keys = ({ inProcess }: Pick<Folder, 'inProcess'>, command: KeysCommand) =>
  inProcess((configuration) => runKeys(command, configuration));

describe('keys while a server uses the same folder', () => {
  const server = sharedServer();

  test('keys add --expires creates a key that the server accepts until then, and closes its WebSocket with 1008', async () => {
    const expiresAt = Date.now() + 5_000;
    const key = (await keys(server, add('a guest', new Date(expiresAt).toISOString()))).stdout.trim();
    expect(await status(server.origin, key)).toBe(200);
    const closed = await once(await openSocket(server.origin, key), 'close');
    expect(closed).toMatchObject([{ code: 1008 }]);
    expect(Date.now() - expiresAt).toBeGreaterThanOrEqual(0);
    const expired = await listPets(server.origin, { key });
    expect(expired.status).toBe(401);
    expect(expired.headers.get('www-authenticate')).toContain('error="invalid_token"');
  });

  test('keys list prints a key that the server has used with the time of its use', async () => {
    const key = (await keys(server, add('used'))).stdout.trim();
    expect(await status(server.origin, key)).toBe(200);
    const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
    // The server stores it asynchronously. Tests of the key verifier, with fake time, check the delay.
    await vi.waitFor(async () => {
      const { stdout } = await server.command(['keys', 'list']);
      expect(stdout).toMatch(new RegExp(String.raw`^used +${time} +- +${time} +-$`, 'm'));
    });
  });
});

test('keys list prints names and times in order of creation, and no key', async () => {
  const folder = await newFolder();
  await keys(folder, add('first'));
  const key = (await keys(folder, add('a laptop', '2100-01-31'))).stdout.trim();
  await keys(folder, { run: 'keys revoke', name: 'first' });
  const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
  const list = new RegExp(
    String.raw`^NAME      CREATED                   EXPIRES                   LAST USED  REVOKED\n` +
      String.raw`first     ${time}  -                         -          ${time}\n` +
      String.raw`a laptop  ${time}  2100-01-31T00:00:00\.000Z  -          -\n$`,
  );
  const { code, stdout } = await keys(folder, { run: 'keys list' });
  expect(code).toBe(0);
  expect(stdout).toMatch(list);
  expect(stdout).not.toContain(key.slice(4));
});

describe('a keys command that fails', () => {
  test('keys add rejects the name of an existing key, even if it was revoked', async () => {
    const folder = await newFolder();
    await keys(folder, add('ci'));
    await keys(folder, { run: 'keys revoke', name: 'ci' });
    expect(await folder.command(['keys', 'add', 'ci'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr:
        'A key named "ci" already exists. Names cannot be used again, not even those of revoked keys.\n',
    });
  });

  test.for<[command: KeysCommand, reason: string]>([
    ...['', ' ci', '\u001B[2J', 'n'.repeat(65)].map((name): [KeysCommand, string] => [
      add(name),
      `${JSON.stringify(name)} is not a valid name of a key; it must be 1 to 64 printable characters.\n`,
    ]),
    [add('ci', 'soon'), '--expires is "soon"; it must be'],
    [{ run: 'keys list' }, 'There is no store at '],
    [{ run: 'keys revoke', name: 'ci' }, 'There is no store at '],
  ])('%j fails with the reason, and creates no store', async ([command, reason]) => {
    const folder = await newFolder();
    const { code, stderr } = await keys(folder, command);
    expect([code, stderr.slice(0, reason.length)]).toEqual([1, reason]);
    expect(existsSync(folder.dataDir)).toBe(false);
  });

  test('keys revoke rejects an unknown name', async () => {
    const folder = await newFolder();
    await (await openStore(readConfiguration({ DATA_DIR: folder.dataDir }))).close();
    expect((await keys(folder, { run: 'keys revoke', name: 'unknown' })).stderr).toBe(
      'There is no key named "unknown".\n',
    );
  });
});
