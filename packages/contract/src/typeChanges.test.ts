import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { typeChanges } from './typeChanges.ts';

const released = await readFile(new URL('../../../contract/router.ts', import.meta.url), 'utf8');

/** The released types with one thing changed, which must be there. */
function changed(from: string, to: string): string {
  expect(released).toContain(from);
  return released.replace(from, to);
}

describe('a change to the flat types', () => {
  it('is none where nothing changed', async () => {
    expect(await typeChanges(released, released)).toEqual([]);
  });

  it.each<[what: string, from: string, to: string, isBreaking: boolean, sentence: string]>([
    ['a procedure that is gone', '    createPet: ', '    addPet: ', true, 'The procedure createPet is gone'],
    ['a procedure that is new', '    createPet: ', '    addPet: ', false, 'The procedure addPet is new'],
    [
      'a query that is a mutation now',
      'getPet: QueryProcedure<',
      'getPet: MutationProcedure<',
      true,
      'getPet: it is a mutation, and was a query',
    ],
    [
      'an input that is required now',
      'limit?: number | undefined;',
      'limit: number;',
      true,
      'listPets: an input that was right is no more',
    ],
    [
      'an input that may be left out now',
      '      petId: number;',
      '      petId?: number | undefined;',
      false,
      'getPet: it takes inputs that were not right before',
    ],
    [
      'a field of an answer that is gone',
      "  /** The animal's name. */\n  name: string;\n  /** Identifier of the category the animal belongs to. */\n  categoryId: number;\n  /** Availability status. */\n  status?: PetStatus;\n};",
      '  categoryId: number;\n  status?: PetStatus;\n};',
      true,
      'getPet: its output may be what it could not be before',
    ],
    [
      'a value of an enumeration that an answer may have now',
      "'available' | 'pending' | 'sold'",
      "'available' | 'pending' | 'sold' | 'gone'",
      true,
      'getPet: its output may be what it could not be before',
    ],
    [
      'a value of an enumeration that an input may have no more',
      "'available' | 'pending' | 'sold'",
      "'available' | 'pending'",
      true,
      'createPet: an input that was right is no more',
    ],
    [
      'a field of an input that may be left out still, but no longer be undefined',
      '  status?: PetStatus | undefined;\n};',
      '  status?: PetStatus;\n};',
      true,
      'createPet: an input that was right is no more',
    ],
    [
      'a list in place of one',
      '    }, Animal>;',
      '    }, Animal[]>;',
      true,
      'getPet: its output may be what it could not be before',
    ],
  ])('%s', async (_what, from, to, isBreaking, sentence) => {
    expect(await typeChanges(released, changed(from, to))).toContainEqual({ isBreaking, sentence });
  });

  it('is not looked for in what does not compile', async () => {
    await expect(typeChanges(released, `${released}\nexport type Broken = Nowhere;`)).rejects.toThrow(
      /^The types cannot be compared: after\.ts.*Nowhere/,
    );
  });
});
