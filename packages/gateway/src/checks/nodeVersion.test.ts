import { expect, it, onTestFinished, vi } from 'vitest';

it.each(['index', 'procedures', 'adapters/uws/serve', 'protocols/mcp/index', 'command/serveCommand'])(
  'on a Node without ES2024, the import of %s.ts says which Node is needed',
  async (module) => {
    const path = `${import.meta.dirname}/../${module}.ts`;
    const groupBy = Object.getOwnPropertyDescriptor(Map, 'groupBy') ?? {};
    onTestFinished(() => {
      Object.defineProperty(Map, 'groupBy', groupBy);
      vi.resetModules();
    });
    Reflect.deleteProperty(Map, 'groupBy');
    vi.resetModules();
    await expect(import(path)).rejects.toThrow(
      `trpc-gateway needs Node 22.14 or newer, and this is ${process.version}. Update Node.`,
    );
  },
);
