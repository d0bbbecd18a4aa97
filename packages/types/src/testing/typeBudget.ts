import { generateTypes } from 'trpc-gateway-typegen';
import { compile } from '@petstore/testing/compile';
import { manyProcedures } from './manyProcedures.ts';

/** Counts the instantiations of a consumer that calls `calls` of 200 procedures, by `tsc --extendedDiagnostics`. */
export async function countInstantiations(calls: number): Promise<number> {
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
