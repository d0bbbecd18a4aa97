import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

function createCollector(): () => void {
  // Bun has no flags of V8.
  const { Bun } = globalThis as { readonly Bun?: { gc(isSynchronous: boolean): void } };
  if (Bun) return () => Bun.gc(true);
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

/** Collects all garbage before it returns. */
export const collectGarbage: () => void = createCollector();
