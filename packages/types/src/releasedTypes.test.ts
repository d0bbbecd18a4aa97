import { readFile } from 'node:fs/promises';
import { compile } from '@petstore/testing/compile';
import { expect, it } from 'vitest';

const contract = (name: string) => readFile(new URL(`../../../contract/${name}`, import.meta.url), 'utf8');
const released = await contract('router.ts');
const compare = (await contract('compare.ts')).replace(/'\.\.[^']*'/, "'./current.ts'");

it('contract/compare.ts names the procedures that changes break, and accepts other changes', async () => {
  const current = released
    .replace('getPet: QueryP', 'getPet: MutationP')
    .replace('limit?: number | undefined;', 'limit: number;')
    .replace("'pending' | 'sold'", "'pending' | 'sold' | 'gone'")
    .replace('    createPet: ', '    addPet: QueryProcedure<string, string>;\n    createPet: ')
    .replace('      petId: number;', '      petId?: number | undefined;');
  const printed = await compile({
    files: { 'router.ts': released, 'current.ts': current, 'compare.ts': compare },
    compiler: 'TypeScript 7',
    packages: 'repository',
    exactOptionalPropertyTypes: true,
  });
  const broken = [...printed.matchAll(/^  (?:Types of property|The types of) '(\w+)/gm)].map(
    ([, name]) => name,
  );
  expect(broken).toEqual(['getPet', 'listPets', 'listPets']);
});
