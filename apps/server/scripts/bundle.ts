import { readFile, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { writePage } from '@petstore/runtime/docs';
import { build, type Plugin } from 'esbuild';

// What `npm start` runs, and what tests start: `bundle.ts [folder] [further entry points]`. Unbundled, the imports alone cost more memory and time
// than the whole start may take.
const [folder = 'dist', ...further] = process.argv.slice(2);
const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

/**
 * `import { z } from 'zod'` gives an object that has everything, 50 languages included, and esbuild 0.28 keeps it whole:
 * 8 MB of memory. The same namespace, imported with a star, is kept as far as it is used. trpc-to-openapi 3.3 also asks
 * whether the object has `coerce` (it does since zod 3.20), which counts as a use of everything.
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

/**
 * lmdb 3.5 looks for its addon from where its own file is. Bundled, it is told where that was; left out of the bundle, it
 * costs 5 MB and 40 ms more.
 */
const placeLmdb: Plugin = {
  name: 'place-lmdb',
  setup(bundler) {
    bundler.onLoad({ filter: /[/\\]lmdb[/\\]native\.js$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const placed = source.replace(
        'fileURLToPath(import.meta.url)',
        "requireFrom(import.meta.url).resolve('lmdb')",
      );
      if (placed === source) throw new Error('lmdb finds its addon in another way than lmdb 3.5 does.');
      return { contents: placed };
    });
  },
};

await rm(at(folder), { recursive: true, force: true });
await build({
  entryPoints: [at('src/main.ts'), ...further.map(at)],
  outdir: at(folder),
  bundle: true,
  // What is imported when used stays in files of its own.
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  conditions: ['@petstore/source'],
  // It loads its addon from beside itself.
  external: ['uWebSockets.js'],
  plugins: [shakeZod, placeLmdb],
  // CommonJS packages, pino among them, call `require` for Node's own modules, and esbuild leaves that to the file.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module';\nconst require = requireFrom(import.meta.url);",
  },
  minifyWhitespace: true,
  sourcemap: 'linked',
  logLevel: 'warning',
});

await writePage(new URL(`../${folder}/page/`, import.meta.url));
