import { appRouter } from '@petstore/core';
import * as core from '@petstore/core';
import { generateTypes } from 'trpc-gateway-typegen';
import { compile, everyCompiler } from '@petstore/testing/compile';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { differences, equalitySource } from './testing/equality.ts';
import { anyProcedures, tortureRouter, transformedTortureRouter } from './testing/tortureRouter.ts';

const torture = fileURLToPath(new URL('testing/tortureRouter.ts', import.meta.url));
const paths = (router: { readonly _def: { readonly procedures: object } }) =>
  Object.keys(router._def.procedures);

const petStore = { module: '@petstore/core', name: 'appRouter' };

/** Returns the pet store's types as `testing/generate.ts` writes them, and source that compares them with the types of its router. */
async function petStoreFiles() {
  return {
    'petStoreTypes.ts': await generateTypes(appRouter, { exports: core, errorShape: 'default' }),
    'petStore.ts': equalitySource(petStore, './petStoreTypes.ts', paths(appRouter)),
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

it.each(everyCompiler)(
  'generated types strictly equal the types of the router and contain no `any`: $compiler, exactOptionalPropertyTypes $exactOptionalPropertyTypes',
  async (options) => {
    const files = { ...(await petStoreFiles()), ...(await tortureFiles()) };
    const printed = await compile({ files, packages: 'repository', ...options });
    expect(differences(files, printed)).toEqual([]);
  },
);

it('the comparison reports an additional optional field, `any`, and another kind of procedure', async () => {
  const files = await petStoreFiles();
  const changes = [
    ['name: string;', 'name: string;\n  color?: string;', 'createPet: same'],
    ['Pets = Animal[]', 'Pets = any', 'listPets: known'],
    ['getPet: QueryP', 'getPet: MutationP', 'getPet: same'],
  ] as const;
  const reported = changes.map(async ([from, to]) => {
    const changed = { ...files, 'petStoreTypes.ts': files['petStoreTypes.ts'].replace(from, to) };
    const compiler = { compiler: 'TypeScript 7', exactOptionalPropertyTypes: true } as const;
    return differences(
      changed,
      await compile({ files: changed, packages: 'repository', ...compiler }),
    ).join();
  });
  expect(await Promise.all(reported)).toEqual(changes.map(([, , part]) => expect.stringContaining(part)));
});
