import { afterAll, describe, expect, test } from 'vitest';
import { readConfiguration } from '../../src/configuration/configuration.ts';
import { makeFirstKey } from '../../src/firstKey.ts';
import { openStore } from '../../src/store/openStore.ts';
import { type Ended, type Folder, newFolder } from '../testing/newFolder.ts';
import { otherVersions, withoutBinary } from '../testing/otherVersions.ts';
import { startAndStop } from '../testing/startServerInProcess.ts';
import { takenPort } from '../testing/takenPort.ts';

const failedWithOneSentence = { code: 1, stdout: '', isSentence: true, missing: [] };

/** Returns the output of an ended process, and which of the expected mentions its stderr lacks. */
const describeExit = ({ code, stdout, stderr }: Ended, mentions: readonly string[]) => ({
  code,
  stdout,
  isSentence: /^[^\n]+\.\n$/.test(stderr) || stderr,
  missing: mentions.filter((text) => !stderr.includes(text)),
});

describe('a start that cannot succeed, in this process', () => {
  test.each<[what: string, env: Record<string, string>, mentions: readonly string[]]>([
    // TEST-NET-1 (RFC 5737): no machine has it.
    ['an address of another machine', { HOST: '192.0.2.1' }, ['HOST is 192.0.2.1']],
    ['a missing certificate', { TLS_CERT: '/none.crt', TLS_KEY: '/none.key' }, ['none.crt', 'ENOENT']],
    ['an invalid variable', { PORT: 'http' }, ['PORT', '"http"', '0 to 65535']],
    ['a data folder that cannot be created', { DATA_DIR: '/dev/null/x' }, ['/dev/null/x']],
  ])('a start with %s fails with a one-line message', async (_, env, mentions) => {
    const { inProcess } = await newFolder();
    expect(describeExit(await inProcess(startAndStop, env), mentions)).toEqual(failedWithOneSentence);
  });

  test('a start with a port in use fails with a one-line message, and does not use up the first key', async () => {
    const { dataDir, inProcess } = await newFolder();
    const PORT = await takenPort();
    expect(describeExit(await inProcess(startAndStop, { PORT }), [`PORT is ${PORT}`, 'HOST is'])).toEqual(
      failedWithOneSentence,
    );
    const store = await openStore(readConfiguration({ DATA_DIR: dataDir }));
    expect(await makeFirstKey(store)).toBeDefined();
    await store.close();
  });
});

const taken = await takenPort(afterAll);

describe('a process that cannot start', () => {
  const uws = '@uwsjs/core 20.69.0 and uws-pack 20.0.8 have no binary for Node';
  test.each<[what: string, Parameters<Folder['command']>, mentions: readonly string[]]>([
    ['an invalid secret', [[], { env: { API_KEY: 'my secret' } }], ['API_KEY', 'at least 16']],
    ['an unknown command', [['sevre']], ['"sevre"', '--help']],
    [
      'SERVER=uws and no binary for this Node',
      [[], { nodeArgs: withoutBinary, env: { SERVER: 'uws' } }],
      ['SERVER is "uws"', uws, 'Node 22, 24 or 26'],
    ],
    [
      'an unsupported Node version',
      [[], { nodeArgs: otherVersions({ node: '20.19.0' }) }],
      ['Node 22', '20.19.0', 'npm start'],
    ],
    ...['1', ...(process.platform === 'linux' ? ['2'] : [])].flatMap(
      (WORKERS): [string, Parameters<Folder['command']>, readonly string[]][] => [
        // The first key is not printed either.
        [
          `an ADMIN_PORT in use and WORKERS=${WORKERS}`,
          [[], { env: { WORKERS, ADMIN_PORT: taken } }],
          [`ADMIN_PORT is ${taken} and ADMIN_HOST is 127.0.0.1`, 'set ADMIN_PORT to another port'],
        ],
      ],
    ),
  ])('a process with %s exits with code 1 and a one-line message', async (_, args, mentions) => {
    const { command } = await newFolder();
    const ended = await command(...args);
    expect(describeExit(ended, mentions)).toEqual(failedWithOneSentence);
    expect(ended.stderr).not.toContain('my secret');
  });
});
