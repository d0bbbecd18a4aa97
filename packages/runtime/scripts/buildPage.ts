import { writeFile } from 'node:fs/promises';
import files from '../src/docs/pageSources.ts';

// Builds the docs page into the published package, which has neither Scalar's package nor Fastify.
await writeFile(
  new URL('../dist/docs/page.js', import.meta.url),
  `export default ${JSON.stringify(files)};\n`,
);
