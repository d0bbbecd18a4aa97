import { createRequire } from 'node:module';
import type express from 'express';

/**
 * Loads Express. Vitest starts Node with the condition `import`, with which Express's router would be given the ES module of
 * a package of which it needs the function.
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
