import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { openEmbeddedStore } from '@petstore/core/store/embedded';
import { readConfiguration } from './configuration.ts';
import { errorText } from './errorText.ts';
import { type KeysCommand, runKeys } from './keys.ts';
import { newFolder, sharedServer } from './testing/newFolder.ts';

const status = async (origin: string, key: string) =>
  (await fetch(`${origin}/v1/pets`, { headers: { authorization: `Bearer ${key}` } })).status;

/** How soon is held by the tests of the key verifier, which have a clock of their own: a busy machine takes longer. */
const until = (check: () => unknown) => vi.waitFor(check, { timeout: 15_000, interval: 50 });

describe('keys on the command line, while a server uses the same folder', () => {
  const server = sharedServer();

  test('add prints a key that the server takes, and nothing else', async () => {
    const { code, stdout, stderr } = await server.command(['keys', 'add', 'a laptop']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^psk_[\w-]{43}\n$/);
    await until(async () => expect(await status(server.origin, stdout.trim())).toBe(200));
  });

  test('revoke makes the server reject the key', async () => {
    const key = (await server.command(['keys', 'add', 'ci'])).stdout.trim();
    await until(async () => expect(await status(server.origin, key)).toBe(200));
    const { code, stdout } = await server.command(['keys', 'revoke', 'ci']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'Revoked "ci": within 5 seconds no process accepts it.\n',
    });
    await until(async () => expect(await status(server.origin, key)).toBe(401));
  });

  test('add --expires makes a key that the server takes until then, and whose WebSocket ends with 1008', async () => {
    const expiresAt = Date.now() + 6_000;
    const { code, stdout } = await server.command([
      'keys',
      'add',
      'a guest',
      '--expires',
      new Date(expiresAt).toISOString(),
    ]);
    expect(code).toBe(0);
    const key = stdout.trim();
    expect(await status(server.origin, key)).toBe(200);
    const socket = new WebSocket(`${server.origin.replace('http', 'ws')}/trpc?connectionParams=1`);
    socket.addEventListener('open', () =>
      socket.send(JSON.stringify({ method: 'connectionParams', data: { authorization: `Bearer ${key}` } })),
    );
    const closed = await once(socket, 'close');
    expect(closed).toMatchObject([{ code: 1008 }]);
    expect(Date.now() - expiresAt).toBeGreaterThanOrEqual(0);
    const refused = await fetch(`${server.origin}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toContain('error="invalid_token"');
  });

  test('list shows names and times in order of creation, and no key', async () => {
    const { serve, command } = await newFolder();
    const { origin } = await serve();
    const key = (await command(['keys', 'add', 'a laptop', '--expires', '2100-01-31'])).stdout.trim();
    await command(['keys', 'revoke', 'first']);
    expect(await status(origin, key)).toBe(200);
    const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`;
    const list = new RegExp(
      String.raw`^NAME      CREATED                   EXPIRES                   LAST USED                 REVOKED\n` +
        String.raw`first     ${time}  -                         -                         ${time}\n` +
        String.raw`a laptop  ${time}  2100-01-31T00:00:00\.000Z  ${time}  -\n$`,
    );
    // The use is noted beside the call, not before it.
    const { code, stdout } = await vi.waitFor(async () => {
      const listed = await command(['keys', 'list']);
      expect(listed.stdout).toMatch(list);
      return listed;
    }, 15_000);
    expect(code).toBe(0);
    expect(stdout).not.toContain(key.slice(4));
  });
});

describe('the check of a key', () => {
  const server = sharedServer();

  test('costs no more for one that is not good than for one that is', async () => {
    const good = (await server.command(['keys', 'add', 'ci'])).stdout.trim();
    const bad = `psk_${'x'.repeat(43)}`;
    const times = { good: [] as number[], bad: [] as number[] };
    const HEAD = async (key: string) => {
      const start = performance.now();
      // Of one path that is not there: nothing but the credential tells the answers apart.
      await fetch(`${server.origin}/v1/nothing`, {
        method: 'HEAD',
        headers: { authorization: `Bearer ${key}` },
      });
      return performance.now() - start;
    };
    for (let round = 0; round < 400; round += 1) {
      times.good.push(await HEAD(good));
      times.bad.push(await HEAD(bad));
    }
    const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length / 2] ?? 0;
    // Twice: a shared machine is noisy, and a look-up that walked all keys, or a slow hash, would cost far more.
    expect(median(times.bad)).toBeLessThan(median(times.good) * 2);
  });
});

describe('a key command that cannot be carried out says so in one sentence', () => {
  test('add: the name is taken, though its key was revoked', async () => {
    const { command } = await newFolder();
    await command(['keys', 'add', 'ci']);
    await command(['keys', 'revoke', 'ci']);
    expect(await command(['keys', 'add', 'ci'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'There is a key named "ci" already: names are given once, also those of revoked keys.\n',
    });
  });

  /** How a command fails that runs in this process. */
  const failure = (dataDir: string, command: KeysCommand) =>
    runKeys(command, readConfiguration({ DATA_DIR: dataDir })).then(() => 'It does not.', errorText);

  test.for(['', ' ci', 'a\nb', '\u001B[2J', 'n'.repeat(65)])('add: %j is no name', async (name) => {
    const { dataDir } = await newFolder();
    expect(await failure(dataDir, { run: 'keys add', name, expires: undefined })).toBe(
      `${JSON.stringify(name)} cannot be a key's name: it takes 1 to 64 printable characters.`,
    );
  });

  test('add: the time of --expires is none, and no store is made', async () => {
    const { dataDir } = await newFolder();
    expect(await failure(dataDir, { run: 'keys add', name: 'ci', expires: 'soon' })).toBe(
      '--expires is "soon": it takes a time from now (90m, 12h, 30d), a date (2030-01-31) or an instant (2030-01-31T08:00:00Z).',
    );
    expect(existsSync(dataDir)).toBe(false);
  });

  test.for<KeysCommand>([{ run: 'keys list' }, { run: 'keys revoke', name: 'ci' }])(
    '%j: there is no store, and none is made',
    async (command) => {
      const { dataDir } = await newFolder();
      expect(await failure(dataDir, command)).toBe(`There is no store at ${dataDir}.`);
      expect(existsSync(dataDir)).toBe(false);
    },
  );

  test('revoke: no key has the name', async () => {
    const { dataDir } = await newFolder();
    await (await openEmbeddedStore({ dataDir })).close();
    expect(await failure(dataDir, { run: 'keys revoke', name: 'nobody' })).toBe(
      'There is no key named "nobody".',
    );
  });
});
