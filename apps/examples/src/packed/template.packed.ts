import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@petstore/testing/freePort';
import { runtimes } from '@petstore/testing/runtimes';
import { expect, inject, it } from 'vitest';
import { z } from 'zod';
import { ofThisRun } from './ofThisRun.ts';
import { start, testProject } from './testProject.ts';

const template = fileURLToPath(new URL('../../../../templates/service', import.meta.url));
const read = (name: string) => readFile(join(template, name), 'utf8');
const isInstalled = (path: string) => /[/\\](?:node_modules|package-lock\.json)$/.test(path);

const manifest = z
  .looseObject({
    scripts: z.looseObject({ start: z.string() }),
    dependencies: z.record(z.string(), z.string()),
  })
  .parse(JSON.parse(await read('package.json')));
const dockerfile = await read('Dockerfile');

/** A copy of the template, with the packed packages in place of those on npm. */
async function copyOfTemplate(node: string) {
  const dependencies = { ...manifest.dependencies };
  const tarballs = Object.entries(inject('packed').tarballs);
  for (const [name, tarball] of tarballs) if (name in dependencies) dependencies[name] = tarball;
  const project = await testProject([], { node, manifest: { ...manifest, dependencies } });
  const filter = (path: string) => !isInstalled(path) && path !== join(template, 'package.json');
  await cp(template, project.folder, { recursive: true, filter });
  return project;
}

const nodes = Object.entries({ 22: process.execPath, 24: runtimes()['node24'] }).flatMap(([version, node]) =>
  node === undefined ? [] : [{ version, node }],
);

it.each(ofThisRun(nodes))(
  'on Node $version a copy of the template installs, compiles, passes its test, serves, stops with code 0, and without API_KEY says which variable to set',
  async ({ node }) => {
    const project = await copyOfTemplate(node);
    const { run, warnings, write } = project;
    expect(warnings).toEqual([]);
    await run('npm', 'run', 'typecheck');
    await run('npm', 'test');
    await expect(run('npm', 'start')).rejects.toThrow(/^API_KEY is not set\..*$/m);

    const port = String(await freePort());
    await write({ 'dev.env': `API_KEY=a-key\nPORT=${port}\n` });
    const [, ...args] = manifest.scripts.start.split(' ');
    const { stop } = await start(project, [node, ...args], /"listening"/, { API_KEY: 'a-key', PORT: port });
    expect((await run('npm', 'run', '--silent', 'client')).stdout).toBe("{ id: 2, title: 'Emma' }\n");
    const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
    expect((await get('/healthz')).status).toBe(200);
    expect(await (await get('/docs')).text()).toContain('<title>');
    const document = (await (await get('/openapi.json')).json()) as { readonly paths: object };
    expect(Object.keys(document.paths)).toEqual(['/books/{id}', '/books']);
    expect(await stop()).toBe(0);
  },
);

it('the image of the template starts like npm start, as a user without privileges', () => {
  const [command = ''] = /(?<=^CMD ).*$/m.exec(dockerfile) ?? [];
  expect((JSON.parse(command) as readonly string[]).join(' ')).toBe(manifest.scripts.start);
  expect(dockerfile).toMatch(/^FROM node:24-trixie-slim$/m);
  expect(dockerfile).toMatch(/^USER node$/m);
});
