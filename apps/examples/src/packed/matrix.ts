import type { BuildName } from './builds.ts';
import { ofThisRun } from './ofThisRun.ts';
import type { PackageManagerName } from './packages.ts';

/** An app as users have it. */
type App = readonly [
  build: BuildName,
  manager: PackageManagerName,
  trpc: string,
  /** `zod/v4` of 3.25, and zod 3 itself of older versions. */
  zod: string,
  typescript: string,
  /** Further packages, such as those of tRPC for React, which require one exact version of tRPC. */
  ...others: string[],
];

const react = ['react', 'react-dom', '@tanstack/react-query'];
const trpcReact = ['next', 'react-query', 'tanstack-react-query'].map((name) => `@trpc/${name}@11.17.0`);

const apps: readonly App[] = [
  ['next15', 'npm', '11.0.0', '3.25.76', '5.8.3', ...react, '@trpc/tanstack-react-query@11.0.0'],
  ['next16', 'pnpm', '11.17.0', '4.1.13', '5.9.3', ...react, ...trpcReact],
  ['node', 'yarn4', '11.8.0', '4.0.17', '5.7.3', ...react, '@trpc/react-query@11.8.0'],
  ['node', 'npm', '11.0.0', '4.4.3', '5.7.3'],
  ['commonjs', 'pnpm', '11.17.0', '3.25.76', '5.8.3'],
  ['commonjs', 'yarn', 'newest', 'newest', '7.0.2'],
  ['vite7', 'yarn4', '11.8.0', '4.1.13', '6.0.3'],
  ['vite8', 'npm', 'newest', '4.4.3', '7.0.2'],
  ['esbuild', 'yarn', 'newest', '4.0.17', '5.9.3'],
  ['esbuildCommonjs', 'pnpm', '11.0.0', '4.4.3', '6.0.3'],
  ['lambda', 'bun', 'newest', '3.24.4', '7.0.2'],
  ['workers', 'npm', 'newest', 'newest', '7.0.2'],
];

/**
 * Not the full product: each version, bundler and package manager is in two rows at least. `newest` is the version of this
 * repository. Rows that take long come first.
 */
export const matrix = ofThisRun(apps).map(([build, manager, trpc, zod, typescript, ...others]) => ({
  build,
  manager,
  trpc,
  zod,
  typescript,
  others,
}));
