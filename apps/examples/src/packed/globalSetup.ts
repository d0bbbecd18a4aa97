import { rm } from 'node:fs/promises';
import type { TestProject } from 'vitest/node';
import { pack, type PackedPackages } from './packages.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    readonly packed: PackedPackages;
  }
}

/** A `globalSetup` of vitest: packs the packages once for all files, since builds must not run concurrently. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const packed = await pack();
  project.provide('packed', packed);
  return () => rm(packed.folder, { recursive: true });
}
