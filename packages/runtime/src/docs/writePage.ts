import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

// Level 11 would save another 100 kB of Scalar's 4.3 MB, and take eight seconds instead of half a second.
const brotli = (bytes: Buffer) =>
  promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });

/**
 * Writes the files of the docs page and their compressed forms to a folder. A bundled service needs them in `page/` beside
 * the bundle's file that contains `docsPage`.
 */
export async function writePage(folder: URL): Promise<void> {
  const page = new URL('page/', import.meta.url);
  await cp(page, folder, { recursive: true });
  // The published package already contains Scalar's file and the compressed forms.
  const files = new Set(await readdir(page));
  if (!files.has('scalar.js')) await cp(await scalarFile(), new URL('scalar.js', folder));
  for (const file of files.add('scalar.js')) {
    // The page is small, and has other URLs in each service.
    if (/\.(?:br|gz|html)$/.test(file) || files.has(`${file}.br`)) continue;
    const bytes = await readFile(new URL(file, folder));
    await writeFile(new URL(`${file}.br`, folder), await brotli(bytes));
    await writeFile(new URL(`${file}.gz`, folder), await promisify(gzip)(bytes));
  }
}

/** Loaded on demand, since the published package does not have it. */
const scalarFile = async () => (await import('./fetchScalar.ts')).fetchScalar();
