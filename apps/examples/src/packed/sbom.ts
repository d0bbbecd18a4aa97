/*
 * `npm run sbom -w @petstore/examples -- [folder]`: writes the SBOM of each published package in CycloneDX, from an
 * installation of the packed package. (`npm sbom --workspace` of npm 11 includes dependencies of other workspaces.)
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newProject, pack, publishedPackages } from './packages.ts';

const folder = process.argv[2] ?? 'sbom';
await mkdir(folder, { recursive: true });
const packed = await pack();
try {
  for (const name of publishedPackages) {
    const own = publishedPackages.filter(
      (each) =>
        each === name ||
        (name === '@petstore/embedded-store' && ['@petstore/core', 'trpc-gateway-shared'].includes(each)) ||
        (name !== '@petstore/types' && each === 'trpc-gateway'),
    );
    const project = await newProject(packed, own);
    try {
      const options = 'sbom --sbom-format cyclonedx --sbom-type application';
      const { stdout } = await project.run('npm', ...options.split(' '));
      const file = join(folder, `${name}.cdx.json`);
      await writeFile(file, stdout);
      const { components } = JSON.parse(stdout) as { readonly components: readonly unknown[] };
      process.stderr.write(`${file}: ${components.length} components\n`);
    } finally {
      await project.remove();
    }
  }
} finally {
  await rm(packed.folder, { recursive: true });
}
