import { readFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import scalar from '@scalar/fastify-api-reference';
import { fastify } from 'fastify';

const read = (name: string) => readFile(new URL(`page/${name}`, import.meta.url), 'utf8');

/** Returns Scalar's bundle, from its Fastify plugin: `@scalar/api-reference` brings 238 packages, 256 MB. */
async function scalarScript(): Promise<Buffer> {
  const app = fastify();
  await app.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } });
  const { statusCode, rawPayload } = await app.inject('/docs/js/scalar.js');
  if (statusCode !== 200)
    throw new Error(`@scalar/fastify-api-reference answered ${statusCode}, not its script.`);
  return rawPayload;
}

/**
 * The files of the docs page. It is `#docs-page` for programs that run from the sources. For the published package,
 * `scripts/buildPage.ts` writes the same values into a module without imports, which every bundler can include.
 */
export default {
  html: await read('index.html'),
  start: await read('start.js'),
  /** Compressed by gzip, in Base64. */
  scalar: gzipSync(await scalarScript(), { level: 9 }).toString('base64'),
};
