import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { selfSigned } from '@petstore/testing/selfSigned';
import { canRunUnprivileged, unprivilegedUser } from '@petstore/testing/unprivilegedUser';
import { describe, expect, test } from 'vitest';
import type { Configuration } from '../configuration/configuration.ts';
import { apiKey, newFolder } from '../../test/testing/newFolder.ts';
import { logLines } from '@petstore/testing/serviceProcess';
import { takenPort } from '../../test/testing/takenPort.ts';
import { runCheck } from './check.ts';

const check = (configuration: Configuration) => runCheck(configuration, {});

describe('--check', () => {
  test('--check prints the configuration without secrets, serves nothing and creates no folder', async () => {
    const { command, dataDir } = await newFolder();
    const { cert, key } = selfSigned('pets');
    const env = { API_KEY: apiKey, TLS_CERT: `${dataDir}.crt`, TLS_KEY: `${dataDir}.key`, WORKERS: '4' };
    await writeFile(env.TLS_CERT, cert);
    await writeFile(env.TLS_KEY, key);
    const { code, stdout, stderr } = await command(['--check'], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('WORKERS=4\n');
    expect(stdout).toContain('API_KEY=(set, not shown)\n');
    expect(stdout).not.toContain(apiKey);
    expect(existsSync(dataDir)).toBe(false);
  });

  test('--check and the log of a start name variables that look like known ones, and no others', async () => {
    const { inProcess, serve } = await newFolder();
    const misspelled = { CORS_ORIGIN: 'x', MONGO_URI: 'x', PORTS: '1', api_key: 'x', LOGLEVEL: 'debug' };
    const env = { ...misspelled, HOME: '/', HOSTNAME: 'vm', LANG: 'C', NODE_OPTIONS: '', PATHS: 'x' };
    const sentences = [
      'The variable CORS_ORIGIN is not read. Did you mean CORS_ORIGINS?',
      'The variable MONGO_URI is not read. Did you mean MONGODB_URI?',
      'The variable PORTS is not read. Did you mean PORT?',
      'The variable api_key is not read. Did you mean API_KEY?',
      'The variable LOGLEVEL is not read. Did you mean LOG_LEVEL?',
    ];
    const { code, stdout } = await inProcess((configuration) => runCheck(configuration, env));
    expect(code).toBe(0);
    expect(stdout.split('\n').filter((line) => line.startsWith('The variable'))).toEqual(sentences);
    const server = await serve({ env: { ...env, WORKERS: process.platform === 'linux' ? '2' : '1' } });
    const warnings = logLines(server).filter(({ msg }) => String(msg).startsWith('The variable'));
    expect(warnings.map(({ level, msg }) => [level, msg])).toEqual(
      sentences.map((sentence) => [40, sentence]),
    );
  });

  test('--check opens an existing store, also while a server uses it', async () => {
    const { serve, inProcess } = await newFolder();
    await serve();
    expect((await inProcess(check)).code).toBe(0);
  });

  test('--check prints one line per problem and exits with code 1', async () => {
    const { inProcess, dataDir } = await newFolder();
    await mkdir(dataDir);
    await writeFile(`${dataDir}/petstore.mdb`, 'x');
    const [PORT, ADMIN_PORT] = [await takenPort(), await takenPort()];
    const env = { PORT, ADMIN_PORT, TLS_CERT: `${dataDir}.crt`, TLS_KEY: `${dataDir}.key` };
    const { code, stdout, stderr } = await inProcess(check, env);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^TLS_CERT and TLS_KEY cannot be used: .*\.(?:crt|key) cannot be read/),
      expect.stringContaining(dataDir),
      expect.stringMatching(`^PORT is ${PORT} `),
      expect.stringMatching(`^ADMIN_PORT is ${ADMIN_PORT} `),
    ]);
  });

  test('--check fails if the parent of the data folder is a file', async () => {
    const { inProcess, dataDir } = await newFolder();
    await writeFile(dataDir, '');
    const { code, stderr } = await inProcess(check, { DATA_DIR: `${dataDir}/a/b` });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `The data folder ${dataDir}/a/b cannot be created: ${dataDir} is not a folder.\n`,
    });
  });

  test.skipIf(!canRunUnprivileged)(
    '--check fails like the start for a data folder that the user cannot read',
    async () => {
      const { command, dataDir } = await newFolder();
      await chmod(dirname(dataDir), 0o755);
      await mkdir(dataDir);
      if (unprivilegedUser.uid !== undefined)
        await chown(dataDir, unprivilegedUser.uid, unprivilegedUser.uid);
      await chmod(dataDir, 0o000);
      const checked = await command(['--check'], unprivilegedUser);
      expect({ code: checked.code, stderr: checked.stderr }).toEqual({
        code: 1,
        stderr: `This user cannot read and write the data folder ${dataDir} (EACCES). Grant access, or choose another folder.\n`,
      });
      expect((await command(['serve'], unprivilegedUser)).stderr).toContain(checked.stderr.trimEnd());
    },
  );

  test.skipIf(!canRunUnprivileged)('--check fails if the user may not create the data folder', async () => {
    const { command, dataDir } = await newFolder();
    await chmod(dirname(dataDir), 0o755);
    const { code, stderr } = await command(['--check'], unprivilegedUser);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `The data folder ${dataDir} cannot be created: ${dirname(dataDir)} is not writable.\n`,
    });
  });
});
