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
  const types = files['petStoreTypes.ts']
    .replace('name: string;', 'name: string;\n  color?: string;')
    .replace('Pets = Animal[]', 'Pets = any')
    .replace('getPet: QueryP', 'getPet: MutationP');
  const changed = { ...files, 'petStoreTypes.ts': types };
  const compiler = { compiler: 'TypeScript 7', exactOptionalPropertyTypes: true } as const;
  const reported = differences(
    changed,
    await compile({ files: changed, packages: 'repository', ...compiler }),
  ).join();
  for (const part of ['createPet: same', 'listPets: known', 'getPet: same']) expect(reported).toContain(part);
});
