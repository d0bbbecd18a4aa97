import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { apiKey, type Ended, newFolder } from './testing/newFolder.ts';
import { unprivilegedUser, canRunUnprivileged } from './testing/unprivilegedUser.ts';
import { otherVersions, withoutBinary } from './testing/otherVersions.ts';

const failedWithOneSentence = { code: 1, stdout: '', isSentence: true, missing: [] };

/** Returns the output of an ended process, and which of the expected mentions its stderr lacks. */
const describeExit = ({ code, stdout, stderr }: Ended, ...mentions: readonly string[]) => ({
  code,
  stdout,
  isSentence: /^[^\n]+\.\n$/.test(stderr) || stderr,
  missing: mentions.filter((text) => !stderr.includes(text)),
});

describe('a start that cannot succeed', () => {
  test('a start with a port in use exits with code 1 and a one-line message', async () => {
    const { serve, command } = await newFolder();
    const { origin } = await serve();
    const { port } = new URL(origin);
    expect(describeExit(await command([], { env: { PORT: port } }), `PORT is ${port}`, 'HOST is')).toEqual(
      failedWithOneSentence,
    );
  });

  test('a start with a port in use does not use up the first key of a new store', async () => {
    const { serve, command, dataDir } = await newFolder();
    const { origin } = await serve({ env: { DATA_DIR: `${dataDir}-other` } });
    await command([], { env: { PORT: new URL(origin).port } });
    const { stderr } = await serve();
    expect(stderr()).toContain('psk_');
  });

  test('a start with an address of another machine exits with code 1 and a one-line message', async () => {
    const { command } = await newFolder();
    // TEST-NET-1 (RFC 5737): no machine has it.
    expect(describeExit(await command([], { env: { HOST: '192.0.2.1' } }), 'HOST is 192.0.2.1')).toEqual(
      failedWithOneSentence,
    );
  });

  test.skipIf(!canRunUnprivileged)(
    'a start with a read-only data folder exits with code 1 and a one-line message',
    async () => {
      const { command, dataDir } = await newFolder();
      await mkdir(dataDir);
      await chmod(dataDir, 0o500);
      await chmod(dirname(dataDir), 0o755);
      expect(describeExit(await command([], unprivilegedUser), dataDir)).toEqual(failedWithOneSentence);
    },
  );

  test('a start with a file as the data folder exits with code 1 and a one-line message', async () => {
    const { command, dataDir } = await newFolder();
    await writeFile(dataDir, '');
    expect(describeExit(await command([]), dataDir)).toEqual(failedWithOneSentence);
  });

  // In /proc mkdir fails with ENOENT although the parent exists.
  test.runIf(process.platform === 'linux')(
    'a start that cannot create the data folder exits with code 1 and a one-line message',
    async () => {
      const { command } = await newFolder();
      const env = { DATA_DIR: '/proc/nope' };
      expect(describeExit(await command([], { env }), '/proc/nope', 'ENOENT')).toEqual(failedWithOneSentence);
    },
  );

  test('a start with a damaged data folder exits with code 1 and a one-line message', async () => {
    const { serve, command, dataDir } = await newFolder();
    await (await serve()).stop();
    for (const name of await readdir(dataDir)) await writeFile(join(dataDir, name), 'x'.repeat(65_536));
    expect(describeExit(await command([]), dataDir)).toEqual(failedWithOneSentence);
  });

  test('a start with an invalid variable exits with code 1 and a one-line message', async () => {
    const { command } = await newFolder();
    expect(
      describeExit(await command([], { env: { PORT: 'http' } }), 'PORT', '"http"', '0 to 65535'),
    ).toEqual(failedWithOneSentence);
  });

  test('a start with an invalid secret exits with code 1 and does not print the secret', async () => {
    const { command } = await newFolder();
    const ended = await command([], { env: { API_KEY: 'my secret' } });
    expect(describeExit(ended, 'API_KEY', 'at least 16')).toEqual(failedWithOneSentence);
    expect(ended.stderr).not.toContain('my secret');
  });

  test('a start with a missing certificate exits with code 1 and a one-line message', async () => {
    const { command, dataDir } = await newFolder();
    const env = { TLS_CERT: `${dataDir}.crt`, TLS_KEY: `${dataDir}.key` };
    expect(describeExit(await command([], { env }), `${dataDir}.crt`, 'ENOENT')).toEqual(
      failedWithOneSentence,
    );
  });

  test('an unknown command exits with code 1 and a one-line message', async () => {
    const { command } = await newFolder();
    expect(describeExit(await command(['sevre']), '"sevre"', '--help')).toEqual(failedWithOneSentence);
  });

  test('a start with SERVER=uws and no binary for this Node exits with code 1 and a one-line message', async () => {
    const { command } = await newFolder();
    const ended = await command([], { nodeArgs: withoutBinary, env: { SERVER: 'uws' } });
    expect(
      describeExit(
        ended,
        'SERVER is "uws"',
        '@uwsjs/core 20.69.0 and uws-pack 20.0.8 have no binary for Node',
        'Node 22, 24 or 26',
      ),
    ).toEqual(failedWithOneSentence);
  });

  test('a start on an unsupported Node version exits with code 1 and a one-line message', async () => {
    const { command } = await newFolder();
    const ended = await command([], { nodeArgs: otherVersions({ node: '20.19.0' }) });
    expect(describeExit(ended, 'Node 22', '20.19.0', 'npm start')).toEqual(failedWithOneSentence);
  });
});

test('keys with an unusable data folder exits with code 1 and a one-line message', async () => {
  const { command, dataDir } = await newFolder();
  await writeFile(dataDir, '');
  expect(describeExit(await command(['keys', 'list'], { env: { API_KEY: apiKey } }), dataDir)).toEqual(
    failedWithOneSentence,
  );
});
