import { generateTypes } from 'trpc-gateway-typegen';
import { compile } from '@petstore/testing/compile';
import { expect, it } from 'vitest';
import { manyProcedures } from './testing/manyProcedures.ts';

/** Counts the instantiations of a consumer that calls `calls` of 200 procedures, by `tsc --extendedDiagnostics`. */
async function countInstantiations(calls: number): Promise<number> {
  const printed = await compile({
    files: { 'flat.ts': await generateTypes(manyProcedures(200)), 'consumer.ts': consumer(calls) },
    packages: 'consumer',
    flags: ['--extendedDiagnostics'],
    compiler: 'TypeScript 7',
    exactOptionalPropertyTypes: true,
  });
  if (printed.includes('error TS')) throw new Error(printed);
  return Number(/^Instantiations:\s+(\d+)/m.exec(printed)?.[1]);
}

function consumer(calls: number): string {
  const each = Array.from({ length: Math.ceil(calls / 5) }, (_, index) => [
    `(await client.list${index}.query({ limit: 5 })).map(({ name }) => name)`,
    `(await client.get${index}.query({ id: 5 })).owner.email`,
    `(await client.create${index}.mutate({ name: '', owner: { id: '', email: null }, createdAt: '' })).status`,
    `(await client.update${index}.mutate({ id: 1, changes: { tags: [] } })).tags`,
    `await client.remove${index}.mutate({ id: 1 })`,
  ]);
  return `import { createTRPCClient } from '@trpc/client';
import type { AppRouter } from './flat.ts';
const client = createTRPCClient<AppRouter>({ links: [] });
${each
  .flat()
  .slice(0, calls)
  .map((call, index) => `export const output${index} = ${call};\n`)
  .join('')}`;
}

it.each([
  { calls: 200, most: 30_000 },
  { calls: 4, most: 5_000 },
])(
  'a consumer that calls $calls of 200 procedures needs at most $most instantiations',
  async ({ calls, most }) => {
    const instantiations = await countInstantiations(calls);
    expect(instantiations).toBeGreaterThan(0);
    expect(instantiations).toBeLessThanOrEqual(most);
  },
);
