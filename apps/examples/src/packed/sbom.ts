/*
 * `npm run sbom -- [folder]`: what each published package brings along, as CycloneDX, of what an installation of the
 * packed package really has. (`npm sbom --workspace` mixes in what other workspaces of a repository need: npm 11.)
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newProject, pack, published } from './packages.ts';

const folder = process.argv[2] ?? 'sbom';
await mkdir(folder, { recursive: true });
const packed = await pack();
try {
  for (const name of published) {
    const own = published.filter(
      (each) => each === name || ((name === 'core' || name === 'runtime') && each === 'gateway'),
    );
    const project = await newProject(
      packed,
      own.map((each) => `@petstore/${each}`),
    );
    try {
      const { stdout } = await project.run(
        'npm',
        'sbom',
        '--sbom-format',
        'cyclonedx',
        '--sbom-type',
        'application',
      );
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
