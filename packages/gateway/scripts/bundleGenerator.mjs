// Writes dist/openapi/generator.js: what trpc-to-openapi makes the document with, for runtimes without Node's built-ins.
// Its one entry point re-exports its adapters too (3.3.0), so a bundle of it has their dependencies: h3, co-body, iconv-lite
// and others. On Node the dependency itself is imported: "imports" in package.json.
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = fileURLToPath(new URL('..', import.meta.url));
const name = 'trpc-to-openapi';

/** The package's peers: they are imported, one copy of each. */
const peers = new Set(['@trpc/server', 'zod/v4', 'zod-openapi']);

/** Lets esbuild leave out what nothing uses of the package: its package.json does not say that it may. */
const withoutSideEffects = {
  name: 'without-side-effects',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /./ }, async ({ path, importer, kind, resolveDir, pluginData }) => {
      const isOwn = importer === '<stdin>' || importer.includes(`/node_modules/${name}/`);
      if (pluginData === name || !isOwn) return undefined;
      if (path !== name && !path.startsWith('.')) return { path, external: true, sideEffects: false };
      const resolved = await resolve(path, { importer, kind, resolveDir, pluginData: name });
      return { ...resolved, sideEffects: false };
    });
  },
};

const entry = fileURLToPath(import.meta.resolve(name));
const license = await readFile(join(dirname(entry), '../../LICENSE'), 'utf8');
const { version } = JSON.parse(await readFile(join(dirname(entry), '../../package.json'), 'utf8'));
const { metafile } = await build({
  stdin: { contents: `export { generateOpenApiDocument } from '${name}';`, resolveDir: folder },
  bundle: true,
  platform: 'neutral',
  mainFields: ['module', 'main'],
  format: 'esm',
  target: 'es2024',
  plugins: [withoutSideEffects],
  banner: { js: `/*\n${name} ${version}\n\n${license.trim()}\n*/` },
  outfile: join(folder, 'dist/openapi/generator.js'),
  metafile: true,
  logLevel: 'warning',
});
const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
const others = imported.filter((path) => !peers.has(path));
if (others.length > 0) throw new Error(`The generator of ${name} ${version} imports ${others.join(', ')}.`);
