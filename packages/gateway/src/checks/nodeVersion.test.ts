import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };

/** The client also runs in browsers. */
const entryPoints = Object.entries(manifest.exports).filter(([name]) => name !== './client');

it.each(entryPoints)(
  'on a Node without ES2024, the import of %s says which Node is needed',
  async (_name, { 'trpc-gateway-source': source }) => {
    const groupBy = Object.getOwnPropertyDescriptor(Map, 'groupBy') ?? {};
    onTestFinished(() => void Object.defineProperty(Map, 'groupBy', groupBy));
    vi.resetModules();
    Reflect.deleteProperty(Map, 'groupBy');
    const path = fileURLToPath(new URL(`../../${source}`, import.meta.url));
    await expect(import(path)).rejects.toThrow(
      `trpc-gateway needs Node 22.12 or newer, and this is ${process.version}. Update Node.`,
    );
  },
);
