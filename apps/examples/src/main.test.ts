import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { commandMissing } from '@petstore/testing/commandMissing';
import { expect, it } from 'vitest';

const main = fileURLToPath(new URL('main.ts', import.meta.url));
const noCurl = commandMissing('curl');

/** Runs an example with a temporary pet store and returns its output. */
async function runExample(...args: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--conditions=trpc-gateway-source',
    main,
    ...args,
  ]);
  return stdout.trimEnd().split('\n');
}

it('the tRPC example adds an animal, lists in one batch, and distinguishes errors', async () => {
  expect(await runExample('rpc')).toEqual([
    'added Rex as 1',
    '1 in all, 0 sold, in 1 request',
    'not valid, what listPets was given',
    'no entry: The API key is not valid.',
  ]);
});

it('the HTTP example adds animals, follows the pages, and prints an error', async () => {
  expect(await runExample('http')).toEqual([
    'added Rex: 201 /v1/pets/1',
    'added Bella: 201 /v1/pets/2',
    'added Max: 201 /v1/pets/3',
    'page: Rex, Bella',
    'page: Max',
    '400 BAD_REQUEST: limit: must be at most 100.',
  ]);
});

it.skipIf(noCurl)(
  'the curl example adds and lists, and a repeat with the same idempotency key adds nothing',
  async () => {
    expect(await runExample('curl')).toEqual([
      '{"id":1,"name":"Rex","categoryId":1,"status":"available"}',
      '[{"id":1,"name":"Rex","categoryId":1,"status":"available"}]',
      '{"code":"BAD_REQUEST","message":"limit: must be at most 100.","status":400}',
      '{"id":2,"name":"Max","categoryId":1}',
      '{"id":2,"name":"Max","categoryId":1}',
    ]);
  },
);

it('npm run example without a name lists the examples', async () => {
  expect(await runExample()).toEqual(['npm run example rpc|http|curl|shelter|login|answers']);
  await expect(runExample('none')).rejects.toMatchObject({
    code: 2,
    stderr: 'There is no example none: npm run example rpc|http|curl|shelter|login|answers\n',
  });
});
