import type { PackageManagerName } from './packages.ts';
import type { BuildName } from './builds.ts';

/** An app as users have it. */
export interface App {
  readonly build: BuildName;
  readonly manager: PackageManagerName;
  readonly trpc: string;
  /** `zod/v4` of 3.25, and zod 3 itself of older versions. */
  readonly zod: string;
  readonly typescript: string;
  /** Further packages, such as those of tRPC for React, which require one exact version of tRPC. */
  readonly others?: readonly string[];
}

const react = ['react', 'react-dom', '@tanstack/react-query'];

/**
 * Not the full product: each version, bundler and package manager is in two rows at least. `newest` is the version of this
 * repository. Rows that take long come first.
 */
export const matrix: readonly App[] = [
  {
    build: 'next15',
    manager: 'npm',
    trpc: '11.0.0',
    zod: '3.25.76',
    typescript: '5.8.3',
    others: [...react, '@trpc/react-query@11.0.0'],
  },
  {
    build: 'next16',
    manager: 'pnpm',
    trpc: '11.17.0',
    zod: '4.1.13',
    typescript: '5.9.3',
    others: [...react, '@trpc/next@11.17.0', '@trpc/react-query@11.17.0'],
  },
  {
    build: 'node',
    manager: 'yarn4',
    trpc: '11.8.0',
    zod: '4.0.17',
    typescript: '5.7.3',
    others: [...react, '@trpc/tanstack-react-query@11.8.0'],
  },
  { build: 'node', manager: 'npm', trpc: '11.0.0', zod: '4.4.3', typescript: '5.7.3' },
  {
    build: 'commonjs',
    manager: 'pnpm',
    trpc: '11.17.0',
    zod: '3.25.76',
    typescript: '5.8.3',
    others: ['trpc-to-openapi@2.3.2', 'zod-openapi@4.2.4'],
  },
  { build: 'commonjs', manager: 'yarn', trpc: 'newest', zod: 'newest', typescript: '7.0.2' },
  { build: 'rollup', manager: 'npm', trpc: '11.8.0', zod: '4.1.13', typescript: '6.0.3' },
  { build: 'vite7', manager: 'yarn4', trpc: '11.8.0', zod: '4.0.17', typescript: '5.9.3' },
  { build: 'vite8', manager: 'npm', trpc: 'newest', zod: '4.4.3', typescript: '7.0.2' },
  { build: 'esbuild', manager: 'yarn', trpc: 'newest', zod: '4.0.17', typescript: '7.0.2' },
  { build: 'esbuildCommonjs', manager: 'pnpm', trpc: '11.0.0', zod: '4.4.3', typescript: '6.0.3' },
  { build: 'lambda', manager: 'bun', trpc: 'newest', zod: '3.24.4', typescript: '7.0.2' },
  { build: 'workers', manager: 'npm', trpc: 'newest', zod: 'newest', typescript: '7.0.2' },
];
