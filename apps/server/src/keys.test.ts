import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { newFolder } from './testing/newFolder.ts';

const status = async (origin: string, key: string) =>
  (await fetch(`${origin}/v1/pets`, { headers: { authorization: `Bearer ${key}` } })).status;

describe('keys on the command line, while a server uses the same folder', () => {
  test('add prints a key that the server takes within 1 s, and nothing else', async () => {
    const { serve, command } = await newFolder();
    const { origin } = await serve();
    const { code, stdout, stderr } = await command(['keys', 'add', 'a laptop']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^psk_[\w-]{43}\n$/);
    await vi.waitFor(async () => expect(await status(origin, stdout.trim())).toBe(200), 1_000);
  });

  test('revoke makes the server refuse the key within 5 s', async () => {
    const { serve, command } = await newFolder();
    const { origin } = await serve();
    const key = (await command(['keys', 'add', 'ci'])).stdout.trim();
    await vi.waitFor(async () => expect(await status(origin, key)).toBe(200), 1_000);
    const { code, stdout } = await command(['keys', 'revoke', 'ci']);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'Revoked "ci": within 5 seconds no process accepts it.\n',
    });
    await vi.waitFor(async () => expect(await status(origin, key)).toBe(401), {
      timeout: 5_000,
      interval: 100,
    });
  });

  test('add --expires makes a key that the server takes until then, and whose WebSocket ends with 1008', async () => {
    const { serve, command } = await newFolder();
    const { origin } = await serve();
    const expiresAt = Date.now() + 5_000;
    const { code, stdout } = await command([
      'keys',
      'add',
      'a guest',
      '--expires',
      new Date(expiresAt).toISOString(),
    ]);
    expect(code).toBe(0);
    const key = stdout.trim();
    expect(await status(origin, key)).toBe(200);
    const socket = new WebSocket(`${origin.replace('http', 'ws')}/trpc?connectionParams=1`);
    socket.addEventListener('open', () =>
      socket.send(JSON.stringify({ method: 'connectionParams', data: { authorization: `Bearer ${key}` } })),
    );
    const closed = await once(socket, 'close');
    expect(closed).toMatchObject([{ code: 1008 }]);
    expect(Date.now() - expiresAt).toBeGreaterThanOrEqual(0);
    expect(Date.now() - expiresAt).toBeLessThan(5_000);
    const refused = await fetch(`${origin}/v1/pets`, { headers: { authorization: `Bearer ${key}` } });
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
    }, 5_000);
    expect(code).toBe(0);
    expect(stdout).not.toContain(key.slice(4));
  });
});

describe('the check of a key', () => {
  test('costs no more for one that is not good than for one that is', async () => {
    const { serve, command } = await newFolder();
    const { origin } = await serve();
    const good = (await command(['keys', 'add', 'ci'])).stdout.trim();
    const bad = `psk_${'x'.repeat(43)}`;
    const times = { good: [] as number[], bad: [] as number[] };
    const HEAD = async (key: string) => {
      const start = performance.now();
      // Of one path that is not there: nothing but the credential tells the answers apart.
      await fetch(`${origin}/v1/nothing`, { method: 'HEAD', headers: { authorization: `Bearer ${key}` } });
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

  test.for(['', ' ci', 'a\nb', '\u001B[2J', 'n'.repeat(65)])('add: %j is no name', async (name) => {
    const { command } = await newFolder();
    expect(await command(['keys', 'add', name])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `${JSON.stringify(name)} cannot be a key's name: it takes 1 to 64 printable characters.\n`,
    });
  });

  test('add: the time of --expires is none, and no store is made', async () => {
    const { command, dataDir } = await newFolder();
    expect(await command(['keys', 'add', 'ci', '--expires', 'soon'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr:
        '--expires is "soon": it takes a time from now (90m, 12h, 30d), a date (2030-01-31) or an instant (2030-01-31T08:00:00Z).\n',
    });
    expect(existsSync(dataDir)).toBe(false);
  });

  test.for([['list'], ['revoke', 'ci']])('%j: there is no store, and none is made', async (args) => {
    const { command, dataDir } = await newFolder();
    expect(await command(['keys', ...args])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: `There is no store at ${dataDir}.\n`,
    });
    expect(existsSync(dataDir)).toBe(false);
  });

  test('revoke: no key has the name', async () => {
    const { command } = await newFolder();
    await command(['keys', 'add', 'ci']);
    expect(await command(['keys', 'revoke', 'nobody'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'There is no key named "nobody".\n',
    });
  });
});
