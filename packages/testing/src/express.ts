import { createRequire } from 'node:module';
import type express from 'express';

/**
 * Loads Express. Vitest runs Node with the condition `import`, under which `require('is-promise')` of Express's router returns the
 * ES module instead of the function. This replaces the cached module by its default export.
 */
export async function loadExpress(): Promise<typeof express> {
  const fromExpress = createRequire(createRequire(import.meta.url).resolve('express'));
  const path = fromExpress.resolve('is-promise');
  const loaded: unknown = fromExpress(path);
  const cached = fromExpress.cache[path];
  if (cached && typeof loaded === 'object' && loaded !== null && 'default' in loaded)
    cached.exports = loaded.default;
  return (await import('express')).default;
}
