import { readdir, readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { generated, generatedFolder } from './testing/generated.ts';

describe('the generated files of the pet store', () => {
  let expected: Readonly<Record<string, string>>;
  beforeAll(async () => {
    expected = await generated();
  });

  it.each(['router.ts', 'openapi.ts', 'openapi.json'])(
    '%s equals the result of npm run generate',
    async (name) => {
      expect(await readFile(new URL(name, generatedFolder), 'utf8')).toBe(expected[name]);
    },
  );

  it('the folder of generated files has no other files', async () => {
    expect((await readdir(generatedFolder)).toSorted()).toEqual(Object.keys(expected).toSorted());
  });

  it('the generated files import only types of @trpc/server and have no run-time code', async () => {
    const text = `${expected['router.ts']}${expected['openapi.ts']}`;
    expect(text.match(/(?<= from '@trpc\/server).*(?=')/g)).toEqual(['', '/unstable-core-do-not-import']);
    expect(text).toMatch(/^import type \{/m);
    for (const module of [await import('./index.ts'), await import('./generated/openapi.ts')]) {
      expect(Object.keys(module)).toEqual([]);
    }
  });
});
