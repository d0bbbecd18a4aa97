import { readFile, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { embedDocsPage } from '@petstore/testing/embedDocsPage';
import { build, type Plugin } from 'esbuild';

// Bundles for `npm start` and tests: `bundle.ts [folder] [program]`. Imports alone would exceed the goals of a start.
const [outFolder = 'dist', program = 'src/main.ts'] = process.argv.slice(2);
const packagePath = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/**
 * Makes zod tree-shakeable. esbuild 0.28 keeps all of `import { z } from 'zod'`, including 50 locales: 8 MB of memory. It
 * keeps only the used parts of `import * as z`. trpc-to-openapi 3.3 also checks `'coerce' in z`, which is always true since
 * zod 3.20 but counts as a use of the whole namespace.
 */
const shakeZod: Plugin = {
  name: 'shake-zod',
  setup(bundler) {
    bundler.onLoad(
      { filter: /[/\\](?:packages|apps|trpc-to-openapi)[/\\].*\.(?:ts|m?js)$/ },
      async ({ path }) => ({
        contents: (await readFile(path, 'utf8'))
          .replaceAll(/\bimport \{ z \} from (?=['"]zod(?:\/v4)?['"])/g, 'import * as z from ')
          .replaceAll("'coerce' in z;", 'true;'),
        loader: path.endsWith('.ts') ? 'ts' : 'js',
      }),
    );
  },
};

/** Resolves lmdb's addon, which 3.5 finds relative to its file. lmdb outside would cost 5 MB and 40 ms. */
const placeLmdb: Plugin = {
  name: 'place-lmdb',
  setup(bundler) {
    bundler.onLoad({ filter: /[/\\]lmdb[/\\]native\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const patched = source.replace(
        'fileURLToPath(import.meta.url)',
        "requireFrom(import.meta.url).resolve('lmdb')",
      );
      if (patched === source) throw new Error('lmdb finds its addon in another way than lmdb 3.5 does.');
      return { contents: patched };
    });
  },
};

await rm(packagePath(outFolder), { recursive: true, force: true });
await build({
  entryPoints: { main: packagePath(program) },
  outdir: packagePath(outFolder),
  bundle: true,
  // Dynamic imports stay separate files.
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  conditions: ['trpc-gateway-source'],
  plugins: [embedDocsPage, shakeZod, placeLmdb],
  // CommonJS packages such as pino call `require` for Node's built-in modules, and esbuild does not define it.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(import.meta.url);",
  },
  minifyWhitespace: true,
  sourcemap: 'linked',
  logLevel: 'warning',
});
