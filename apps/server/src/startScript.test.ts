import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

const script = fileURLToPath(new URL('../scripts/start', import.meta.url));

test.each([
  ['v20.20.2', 'installed'],
  ['v22.0.0', 'of npm'],
  ['v26.10.0', 'of npm'],
  [undefined, 'installed'],
])('scripts/start with npm on Node %s runs the Node that is %s', async (version, which) => {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const executables = { node: 'installed', 'node-of-npm': 'of npm' };
  for (const [name, says] of Object.entries(executables)) {
    await writeFile(join(folder, name), `#!/bin/sh\necho "${says}:" "$@"`);
    await chmod(join(folder, name), 0o755);
  }
  const npm = version !== undefined && {
    npm_config_user_agent: `npm/11.19.1 node/${version} linux x64 workspaces/false`,
    npm_node_execpath: join(folder, 'node-of-npm'),
  };
  const printed = execFileSync(script, ['--check'], {
    env: { PATH: `${folder}:/usr/bin:/bin`, ...npm },
    encoding: 'utf8',
  });
  expect(printed).toBe(`${which}: apps/server/dist/main.js --check\n`);
});
