import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { configurationHelp } from './configuration/configurationText.ts';
import { newFolder } from '../test/testing/newFolder.ts';
import { startServerInProcess } from '../test/testing/startServerInProcess.ts';

describe('commands that need no store', () => {
  test('--help prints the commands and the configuration, even with an invalid configuration', async () => {
    const { command, dataDir } = await newFolder();
    const { code, stdout, stderr } = await command(['--help'], { env: { PORT: 'http' } });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const shown of ['serve', 'keys add NAME', 'keys list', 'keys revoke NAME', 'openapi']) {
      expect(stdout).toContain(`\n  ${shown} `);
    }
    expect(stdout).toContain(configurationHelp());
    expect(existsSync(dataDir)).toBe(false);
  });

  test('--version prints the version of the package', async () => {
    const { command } = await newFolder();
    const manifest: unknown = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
    const { code, stdout } = await command(['--version']);
    expect({ code, manifest }).toMatchObject({ code: 0, manifest: { version: stdout.trim() } });
  });

  test('openapi prints the document of /openapi.json and creates no folder', async () => {
    const { command, dataDir } = await newFolder();
    const env = { PUBLIC_URL: 'https://pets.example.org' };
    const { code, stdout } = await command(['openapi'], { env });
    expect({ code, folder: existsSync(dataDir) }).toEqual({ code: 0, folder: false });
    const { origin } = await startServerInProcess(env);
    const response = await fetch(`${origin}/openapi.json`);
    expect(JSON.parse(stdout)).toEqual(await response.json());
  });
});
