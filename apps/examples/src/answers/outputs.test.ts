import { fileURLToPath } from 'node:url';
import { readOutputs } from 'trpc-gateway-typegen';
import { expect, it } from 'vitest';
import outputs from './outputs.json' with { type: 'json' };

it('outputs.json is what trpc-gateway-typegen outputs writes for the router', async () => {
  expect((await readOutputs({ file: fileURLToPath(new URL('router.ts', import.meta.url)) })).outputs).toEqual(
    outputs,
  );
});
