// Writes dist/openapi/generator.js, a bundle of the document generator of trpc-to-openapi for runtimes without Node's
// built-ins. The package's only entry point also exports its adapters (3.3.0), so a bundle of all of it would include their
// dependencies: h3, co-body, iconv-lite and others. On Node, the dependency itself is imported ("imports" in package.json).
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = fileURLToPath(new URL('..', import.meta.url));
const packageName = 'trpc-to-openapi';

/** Peer dependencies of the package, which are imported, not bundled. */
const peers = new Set(['@trpc/server', 'zod/v4', 'zod-openapi']);

/** Lets esbuild drop unused modules of the package, whose package.json does not declare `sideEffects: false`. */
const withoutSideEffects = {
  name: 'without-side-effects',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /./ }, async ({ path, importer, kind, resolveDir, pluginData }) => {
      const isFromPackage = importer === '<stdin>' || importer.includes(`/node_modules/${packageName}/`);
      if (pluginData === packageName || !isFromPackage) return undefined;
      if (path !== packageName && !path.startsWith('.')) return { path, external: true, sideEffects: false };
      const resolved = await resolve(path, { importer, kind, resolveDir, pluginData: packageName });
      return { ...resolved, sideEffects: false };
    });
  },
};

const entry = fileURLToPath(import.meta.resolve(packageName));
const license = await readFile(join(dirname(entry), '../../LICENSE'), 'utf8');
const { version } = JSON.parse(await readFile(join(dirname(entry), '../../package.json'), 'utf8'));
const { metafile } = await build({
  stdin: { contents: `export { generateOpenApiDocument } from '${packageName}';`, resolveDir: folder },
  bundle: true,
  platform: 'neutral',
  mainFields: ['module', 'main'],
  format: 'esm',
  target: 'es2024',
  plugins: [withoutSideEffects],
  banner: { js: `/*\n${packageName} ${version}\n\n${license.trim()}\n*/` },
  outfile: join(folder, 'dist/openapi/generator.js'),
  metafile: true,
  logLevel: 'warning',
});
const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
const unexpected = imported.filter((path) => !peers.has(path));
if (unexpected.length > 0)
  throw new Error(`The generator of ${packageName} ${version} imports ${unexpected.join(', ')}.`);
