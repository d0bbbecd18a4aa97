import { readdir, readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { generated, generatedFolder } from './testing/generated.ts';

describe('what is generated from the pet store, `npm run generate`', () => {
  let expected: Readonly<Record<string, string>>;
  beforeAll(async () => {
    expected = await generated();
  });

  it.each(['router.ts', 'openapi.ts', 'openapi.json'])(
    '%s is what the pet store says now, byte by byte',
    async (name) => {
      expect(await readFile(new URL(name, generatedFolder), 'utf8')).toBe(expected[name]);
    },
  );

  it('is all that is in its folder', async () => {
    expect((await readdir(generatedFolder)).toSorted()).toEqual(Object.keys(expected).toSorted());
  });

  it('imports nothing but types of @trpc/server, and runs nothing', async () => {
    const text = `${expected['router.ts']}${expected['openapi.ts']}`;
    expect(text.match(/\bfrom '.*'/g)).toEqual(["from '@trpc/server'"]);
    expect(text).toMatch(/^import type \{/m);
    for (const module of [await import('./index.ts'), await import('./generated/openapi.ts')]) {
      expect(Object.keys(module)).toEqual([]);
    }
  });
});
