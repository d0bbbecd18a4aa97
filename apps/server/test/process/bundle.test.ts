import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bundleOf } from '@petstore/testing/serviceProcess';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { main } from '../testing/petStoreProcess.ts';

const SourceMap = z.object({ sources: z.array(z.string()) });

// esbuild keeps all 60 locales if any module uses `z.core` as a value: import from `zod/v4/core` instead.
test('the bundle has only the English locale of zod, because the others take 4 MB of memory', async () => {
  const folder = dirname(bundleOf(main));
  const maps = (await readdir(folder)).filter((file) => file.endsWith('.js.map'));
  const sources = await Promise.all(
    maps.map(async (file) => SourceMap.parse(JSON.parse(await readFile(join(folder, file), 'utf8'))).sources),
  );
  const locales = sources.flat().filter((source) => source.includes('/zod/v4/locales/'));
  expect(locales.map((source) => source.split('/').at(-1))).toEqual(['en.js']);
});
