import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('trpc-gateway/node does not load undici and works without process.getBuiltinModule', async () => {
  const script = `
    process.getBuiltinModule = undefined;
    await import('${new URL('index.ts', import.meta.url).href}');
    console.log(process.moduleLoadList.filter((name) => name.includes('undici')));
  `;
  const args = ['--conditions=trpc-gateway-source', '--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toBe('[]\n');
});
