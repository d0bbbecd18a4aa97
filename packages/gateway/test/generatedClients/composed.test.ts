import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { expect, it, vi } from 'vitest';
import { transformed } from '../hooks/routers.ts';
import type { OpenApiDocument } from '../openApi.ts';
import { startShape } from '../startShape.ts';
import { createComposed } from './composed.ts';

// `.ci/generated-clients` generates clients of this router, and `.ci/fuzz-document` checks its responses against its document.

async function documentOf(version: '3.1' | '3.2'): Promise<OpenApiDocument> {
  const document = await (await createComposed(version)).document();
  // The warning for a schema of `partlyDescribed` that Valibot cannot describe.
  expect(vi.spyOn(console, 'error').mock.calls.splice(0)).toHaveLength(1);
  return document as unknown as OpenApiDocument;
}

it.each(['3.1', '3.2'] as const)(
  'Redocly accepts the OpenAPI %s document of the composed router',
  async (version) => {
    const file = join(await temporaryFolder(), 'openapi.json');
    await writeFile(file, JSON.stringify(await documentOf(version)));
    const root = fileURLToPath(new URL('../../../../', import.meta.url));
    const lint = promisify(execFile)(join(root, 'node_modules/.bin/redocly'), ['lint', file], { cwd: root });
    await expect(lint).resolves.toMatchObject({ stderr: expect.stringContaining('valid') });
  },
);

it('.ci/schemathesis-shapes.toml names operations that the composed router has', async () => {
  const toml = await readFile(new URL('../../../../.ci/schemathesis-shapes.toml', import.meta.url), 'utf8');
  const { procedures } = await createComposed('3.2');
  vi.spyOn(console, 'error').mock.calls.splice(0);
  const named = Array.from(toml.matchAll(/"(\w+\.\w+\.\w+)"/g), ([, id]) => id);
  expect(procedures.map(({ path }) => path)).toEqual(expect.arrayContaining(named));
});

it('createGateway rejects a document.transform that returns undefined', async () => {
  const document = { title: 'Shape', version: '1.0.0', transform: (() => {}) as never };
  await expect(startShape(transformed, { document })).rejects.toThrow(
    'document.transform returned undefined',
  );
});

it('document.transform may change operations, and hide one that is served', async () => {
  const { paths } = await documentOf('3.2');
  expect(paths['/transformed/described']?.['get']).toMatchObject({ 'x-internal': true });
  expect(paths).not.toHaveProperty('/transformed/hidden');
  const { fetch } = await createComposed('3.2');
  // The warning of `documentOf` again.
  vi.spyOn(console, 'error').mock.calls.splice(0);
  const headers = { authorization: 'Bearer good' };
  const hidden = await fetch('http://localhost/v1/transformed/hidden', { method: 'POST', headers });
  expect(await hidden.json()).toBe('served');
});

it('z.json() has no type in the document, because its recursive union does not compile in clients of openapi-typescript', async () => {
  const { components, paths } = await documentOf('3.1');
  const { schema } =
    paths['/animals/animals']?.['post']?.responses['200']?.content?.['application/json'] ?? {};
  expect(components.schemas[schema?.$ref?.split('/').at(-1) ?? '']).toEqual({});
});
