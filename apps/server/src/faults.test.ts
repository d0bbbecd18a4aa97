import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { apiKey, type Ended, newFolder } from './testing/newFolder.ts';
import { nobody, nobodyCanRun } from './testing/nobody.ts';
import { otherVersions, withoutBinary } from './testing/otherVersions.ts';

const oneSentence = { code: 1, stdout: '', isSentence: true, missing: [] };

/** What an ended process let people see, and which of the things that it should name it did not. */
const seen = ({ code, stdout, stderr }: Ended, ...about: readonly string[]) => ({
  code,
  stdout,
  isSentence: /^[^\n]+\.\n$/.test(stderr) || stderr,
  missing: about.filter((text) => !stderr.includes(text)),
});

describe('a start that cannot succeed ends with one sentence and a code that is not 0', () => {
  test('the port is taken', async () => {
    const { serve, command } = await newFolder();
    const { origin } = await serve();
    const { port } = new URL(origin);
    expect(seen(await command([], { env: { PORT: port } }), `PORT is ${port}`, 'HOST is')).toEqual(
      oneSentence,
    );
  });

  test('the port is taken, on a new store: the first key is still to be had', async () => {
    const { serve, command, dataDir } = await newFolder();
    const { origin } = await serve({ env: { DATA_DIR: `${dataDir}-other` } });
    await command([], { env: { PORT: new URL(origin).port } });
    const { stderr } = await serve();
    expect(stderr()).toContain('psk_');
  });

  test("the address is not this machine's", async () => {
    const { command } = await newFolder();
    // TEST-NET-1 (RFC 5737): no machine has it.
    expect(seen(await command([], { env: { HOST: '192.0.2.1' } }), 'HOST is 192.0.2.1')).toEqual(oneSentence);
  });

  test.skipIf(!nobodyCanRun)('the data folder may not be written', async () => {
    const { command, dataDir } = await newFolder();
    await mkdir(dataDir);
    await chmod(dataDir, 0o500);
    await chmod(dirname(dataDir), 0o755);
    expect(seen(await command([], nobody), dataDir)).toEqual(oneSentence);
  });

  test('a file is where the data folder should be', async () => {
    const { command, dataDir } = await newFolder();
    await writeFile(dataDir, '');
    expect(seen(await command([]), dataDir)).toEqual(oneSentence);
  });

  // Where mkdir says ENOENT though the folder above is there.
  test.runIf(process.platform === 'linux')('the data folder cannot be made', async () => {
    const { command } = await newFolder();
    const env = { DATA_DIR: '/proc/nope' };
    expect(seen(await command([], { env }), '/proc/nope', 'ENOENT')).toEqual(oneSentence);
  });

  test('the data folder is damaged', async () => {
    const { serve, command, dataDir } = await newFolder();
    await (await serve()).stop();
    for (const name of await readdir(dataDir)) await writeFile(join(dataDir, name), 'x'.repeat(65_536));
    expect(seen(await command([]), dataDir)).toEqual(oneSentence);
  });

  test('a variable is not valid', async () => {
    const { command } = await newFolder();
    expect(seen(await command([], { env: { PORT: 'http' } }), 'PORT', '"http"', '0 to 65535')).toEqual(
      oneSentence,
    );
  });

  test('a secret is not valid, and is not shown', async () => {
    const { command } = await newFolder();
    const ended = await command([], { env: { API_KEY: 'my secret' } });
    expect(seen(ended, 'API_KEY', 'at least 16')).toEqual(oneSentence);
    expect(ended.stderr).not.toContain('my secret');
  });

  test('the certificate cannot be served', async () => {
    const { command, dataDir } = await newFolder();
    const env = { TLS_CERT: `${dataDir}.crt`, TLS_KEY: `${dataDir}.key` };
    expect(seen(await command([], { env }), `${dataDir}.crt`, 'ENOENT')).toEqual(oneSentence);
  });

  test('the command is not one', async () => {
    const { command } = await newFolder();
    expect(seen(await command(['sevre']), '"sevre"', '--help')).toEqual(oneSentence);
  });

  test('SERVER=uws, and uWebSockets.js has no binary for this Node', async () => {
    const { command } = await newFolder();
    const ended = await command([], { nodeArgs: withoutBinary, env: { SERVER: 'uws' } });
    expect(seen(ended, 'SERVER is "uws"', 'No binary of uWebSockets.js', 'overrides', 'Node 22')).toEqual(
      oneSentence,
    );
  });

  test('Node is too old', async () => {
    const { command } = await newFolder();
    const ended = await command([], { nodeArgs: otherVersions({ node: '20.19.0' }) });
    expect(seen(ended, 'Node 22', '20.19.0', 'npm start')).toEqual(oneSentence);
  });
});

test('key commands on a folder that cannot be used end the same way', async () => {
  const { command, dataDir } = await newFolder();
  await writeFile(dataDir, '');
  expect(seen(await command(['keys', 'list'], { env: { API_KEY: apiKey } }), dataDir)).toEqual(oneSentence);
});
