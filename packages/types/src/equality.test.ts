import { appRouter } from '@petstore/core';
import { generateTypes } from '@petstore/typegen';
import { compile, everyCompiler } from '@petstore/testing/compile';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { differences, equalitySource } from './testing/equality.ts';
import { generatedFolder } from './testing/generated.ts';
import { anyProcedures, tortureRouter, transformedTortureRouter } from './testing/tortureRouter.ts';

const torture = fileURLToPath(new URL('testing/tortureRouter.ts', import.meta.url));
const paths = (router: { readonly _def: { readonly procedures: object } }) =>
  Object.keys(router._def.procedures);

/** The pet store's generated types, and a source that compares them with those of its router. */
async function petStoreFiles() {
  const real = { module: '@petstore/core', name: 'appRouter' };
  return {
    'petStoreTypes.ts': await readFile(new URL('router.ts', generatedFolder), 'utf8'),
    'petStore.ts': equalitySource(real, './petStoreTypes.ts', paths(appRouter)),
  };
}

async function tortureFiles() {
  const jsonTypes = await generateTypes(tortureRouter);
  const transformedTypes = await generateTypes(transformedTortureRouter);
  const compared = (name: string, flat: string) =>
    equalitySource({ module: torture, name }, flat, paths(tortureRouter), anyProcedures);
  return {
    'jsonTypes.ts': jsonTypes,
    'json.ts': compared('tortureRouter', './jsonTypes.ts'),
    'transformedTypes.ts': transformedTypes,
    'transformed.ts': compared('transformedTortureRouter', './transformedTypes.ts'),
  };
}

describe('generated types', () => {
  it('are made of a router that has more than 150 procedures, of every kind of schema', async () => {
    await tortureFiles();
    expect(paths(tortureRouter).length).toBeGreaterThan(150);
  });

  it.each(everyCompiler)(
    'are strictly those of the router, and `any` nowhere: $compiler, exactOptionalPropertyTypes $exactOptionalPropertyTypes',
    async (options) => {
      const files = { ...(await petStoreFiles()), ...(await tortureFiles()) };
      const printed = await compile({ files, packages: 'repository', ...options });
      expect(differences(files, printed)).toEqual([]);
    },
    240_000,
  );
});

describe('the comparison', () => {
  const seen = async (change: (text: string) => string) => {
    const files = await petStoreFiles();
    const changed = { ...files, 'petStoreTypes.ts': change(files['petStoreTypes.ts']) };
    expect(changed['petStoreTypes.ts']).not.toBe(files['petStoreTypes.ts']);
    const printed = await compile({
      files: changed,
      packages: 'repository',
      compiler: 'TypeScript 7',
      exactOptionalPropertyTypes: true,
    });
    return differences(changed, printed).join('\n');
  };

  it.each([
    [
      'an optional field more',
      'name: string;',
      'name: string;\n  color?: string;',
      'petStore.ts createPet: same',
    ],
    [
      '`undefined` more in an input',
      'petId: number;',
      'petId?: number | undefined;',
      'petStore.ts getPet: same',
    ],
    ['a status less', " | 'sold'", '', 'petStore.ts listPets: same'],
    ['`any`', 'Pets = Animal[]', 'Pets = any', 'petStore.ts listPets: known'],
    ['another kind of procedure', 'getPet: QueryP', 'getPet: MutationP', 'petStore.ts getPet: same'],
    ['a procedure less', 'getPet: Query', 'fetchPet: Query', 'keyof|getPet'],
    ['a transformer', 'transformer: false', 'transformer: true', 'petStore.ts'],
    [
      'another error shape',
      'errorShape: TRPCDefaultErrorShape',
      'errorShape: { code: number }',
      'petStore.ts',
    ],
  ])('sees %s', async (_, from, to, found) => {
    expect(await seen((text) => text.replace(from, to))).toMatch(new RegExp(found));
  });
});
