import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { typeChanges } from './testing/typeChanges.ts';

const released = await readFile(new URL('../../../contract/router.ts', import.meta.url), 'utf8');

/** Replaces a part of the released types. The part must exist. */
function changed(from: string, to: string): string {
  expect(released).toContain(from);
  return released.replace(from, to);
}

describe('typeChanges', () => {
  it('typeChanges returns nothing for equal types', async () => {
    expect(await typeChanges(released, released)).toEqual([]);
  });

  it.each<[what: string, from: string, to: string, isBreaking: boolean, sentence: string]>([
    ['a removed procedure', '    createPet: ', '    addPet: ', true, 'The procedure createPet is gone'],
    ['a new procedure', '    createPet: ', '    addPet: ', false, 'The procedure addPet is new'],
    [
      'a query that becomes a mutation',
      'getPet: QueryProcedure<',
      'getPet: MutationProcedure<',
      true,
      'getPet: it is a mutation, was a query',
    ],
    [
      'an input that becomes required',
      'limit?: number | undefined;',
      'limit: number;',
      true,
      'listPets: some inputs that were valid are no longer valid',
    ],
    [
      'an input that becomes optional',
      '      petId: number;',
      '      petId?: number | undefined;',
      false,
      'getPet: it accepts inputs that were not valid before',
    ],
    [
      'a new enum value of an output',
      "'available' | 'pending' | 'sold'",
      "'available' | 'pending' | 'sold' | 'gone'",
      true,
      'getPet: its output can have values that were not possible before',
    ],
    [
      'an optional field of an input that may no longer be undefined',
      '  status?: PetStatus | undefined;\n};',
      '  status?: PetStatus;\n};',
      true,
      'createPet: some inputs that were valid are no longer valid',
    ],
    [
      'a removed enum value of an output',
      "'available' | 'pending' | 'sold'",
      "'available' | 'pending'",
      false,
      'getPet: some values of its output are no longer possible',
    ],
  ])('typeChanges reports %s', async (_what, from, to, isBreaking, sentence) => {
    expect(await typeChanges(released, changed(from, to))).toContainEqual({ isBreaking, sentence });
  });

  it('typeChanges throws for types that do not compile', async () => {
    await expect(typeChanges(released, `${released}\nexport type Broken = Nowhere;`)).rejects.toThrow(
      /^The types cannot be compared: after\.ts.*Nowhere/,
    );
  });
});
