import { appRouter } from '@petstore/core';
import { generateTypes } from 'trpc-gateway-typegen';
import { compile, everyCompiler } from '@petstore/testing/compile';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { differences, equalitySource } from './testing/equality.ts';
import { generatedFolder } from './testing/generated.ts';
import { anyProcedures, tortureRouter, transformedTortureRouter } from './testing/tortureRouter.ts';

const torture = fileURLToPath(new URL('testing/tortureRouter.ts', import.meta.url));
const paths = (router: { readonly _def: { readonly procedures: object } }) =>
  Object.keys(router._def.procedures);

const petStore = { module: '@petstore/core', name: 'appRouter' };

/** Returns the pet store's generated types, and source that compares them with the types of its router. */
async function petStoreFiles() {
  return {
    'petStoreTypes.ts': await readFile(new URL('router.ts', generatedFolder), 'utf8'),
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

describe('generated types', () => {
  it.each(everyCompiler)(
    'generated types strictly equal the types of the router and contain no `any`: $compiler, exactOptionalPropertyTypes $exactOptionalPropertyTypes',
    async (options) => {
      const files = { ...(await petStoreFiles()), ...(await tortureFiles()) };
      const printed = await compile({ files, packages: 'repository', ...options });
      expect(differences(files, printed)).toEqual([]);
    },
  );
});

describe('the comparison', () => {
  const changes: readonly (readonly [what: string, from: string, to: string, difference: string])[] = [
    ['an additional optional field', 'name: string;', 'name: string;\n  color?: string;', 'createPet: same'],
    ['`any`', 'Pets = Animal[]', 'Pets = any', 'listPets: known'],
    ['another kind of procedure', 'getPet: QueryP', 'getPet: MutationP', 'getPet: same'],
  ];
  const files: Record<string, string> = {};
  let printed: readonly string[];

  // One program for all changes, so that the compiler starts once.
  beforeAll(async () => {
    const { 'petStoreTypes.ts': types } = await petStoreFiles();
    for (const [index, [, from, to]] of changes.entries()) {
      if (!types.includes(from)) throw new Error(`The generated types have no ${from}.`);
      files[`types${index}.ts`] = types.replace(from, to);
      files[`comparison${index}.ts`] = equalitySource(petStore, `./types${index}.ts`, paths(appRouter));
    }
    const all = await compile({
      files,
      packages: 'repository',
      compiler: 'TypeScript 7',
      exactOptionalPropertyTypes: true,
    });
    printed = all.split('\n');
  });

  it.each(changes.map(([what, , , difference], index) => [what, difference, index] as const))(
    'the comparison reports %s',
    (_, difference, index) => {
      const own = printed.filter((line) => line.startsWith(`comparison${index}.ts(`));
      expect(differences(files, own.join('\n')).join('\n')).toMatch(new RegExp(difference));
    },
  );
});
