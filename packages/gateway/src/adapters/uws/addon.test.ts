import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

/** Imports the adapter in a process with a Node version without a binary, and returns the error. */
async function importWithoutBinary(): Promise<{
  readonly name: string;
  readonly code: string;
  readonly message: string;
}> {
  const script = `
    Object.defineProperty(process, 'versions', { value: { ...process.versions, modules: '1' } });
    const error = await import(${JSON.stringify(new URL('serve.ts', import.meta.url).href)}).catch((thrown) => thrown);
    console.log(JSON.stringify({ name: error.name, code: error.code, message: error.message }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  return JSON.parse(stdout);
}

it('the import of the adapter without a binary of uWebSockets.js throws an error with its fixes', async () => {
  const { name, code, message } = await importWithoutBinary();
  expect({ name, code }).toEqual({ name: 'NoBinaryError', code: 'no-binary' });
  expect(message).toMatch(/^No uWebSockets\.js binary is installed for Node v[\d.]+ on \w+-\w+\. [^\n]*\.$/);
  expect(message).toContain('npm ran on an older Node, which leaves the binaries out, run npm install again');
  expect(message).toContain('serve with "trpc-gateway/node"');
  expect(message).toContain('Node 22');
  expect(message).toContain(
    '"overrides": { "uWebSockets.js": "github:uNetworking/uWebSockets.js#v20.69.0" }',
  );
});
