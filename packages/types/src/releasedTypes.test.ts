import { readFile } from 'node:fs/promises';
import { compile } from '@petstore/testing/compile';
import { expect, it } from 'vitest';

const contract = (name: string) => readFile(new URL(`../../../contract/${name}`, import.meta.url), 'utf8');
const released = await contract('router.ts');
const compare = (await contract('compare.ts')).replace(/'\.\.[^']*'/, "'./current.ts'");

it.each<[what: string, from: string, to: string, error: string | undefined]>([
  ['nothing', '', '', undefined],
  ['a procedure that is gone', '    createPet: ', '    addPet: ', 'createPet'],
  [
    'a new procedure',
    '    createPet: ',
    '    addPet: QueryProcedure<string, string>;\n    createPet: ',
    undefined,
  ],
  ['a query that becomes a mutation', 'getPet: QueryP', 'getPet: MutationP', 'getPet'],
  ['an input that becomes required', 'limit?: number | undefined;', 'limit: number;', 'listPets'],
  ['an input that becomes optional', '      petId: number;', '      petId?: number | undefined;', undefined],
  ['a value that an output gets', "'pending' | 'sold'", "'pending' | 'sold' | 'gone'", 'listPets'],
  [
    'a value that an input loses',
    '  status?: PetStatus | undefined;\n};',
    '  status?: PetStatus;\n};',
    'createPet',
  ],
  ['a value that an output loses', 'Pets>', '[]>', undefined],
])(
  'contract/compare.ts takes %s for a change that breaks clients where it is one',
  async (_, from, to, error) => {
    expect(released).toContain(from);
    const printed = await compile({
      files: { 'router.ts': released, 'current.ts': released.replace(from, to), 'compare.ts': compare },
      compiler: 'TypeScript 7',
      packages: 'repository',
      exactOptionalPropertyTypes: true,
    });
    expect(printed).toMatch(error === undefined ? /^$/ : new RegExp(`^compare\\.ts.*[^]*\\b${error}\\b`));
  },
);
