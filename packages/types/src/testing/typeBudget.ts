import { generateTypes } from 'trpc-gateway-typegen';
import { compile, type CompilerOptions } from '@petstore/testing/compile';
import { manyProcedures } from './manyProcedures.ts';

/** The maximum number of type instantiations for a consumer of 200 procedures, by the number of procedures that it calls. */
export const budgets = [
  { calls: 200, instantiations: 30_000 },
  { calls: 4, instantiations: 5_000 },
] as const;

export interface CompilerCost {
  readonly types: number;
  readonly instantiations: number;
  readonly seconds: number;
  readonly megabytes: number;
}

/** Measures a consumer that calls `calls` of 200 procedures, by `tsc --extendedDiagnostics`. */
export async function measureCost(calls: number, options: CompilerOptions): Promise<CompilerCost> {
  const files = { 'flat.ts': await generateTypes(manyProcedures(200)), 'consumer.ts': consumer(calls) };
  const printed = await compile({
    files,
    packages: 'consumer',
    flags: ['--extendedDiagnostics'],
    ...options,
  });
  if (printed.includes('error TS')) throw new Error(printed);
  const figure = (name: string) =>
    Number(new RegExp(String.raw`^${name}:\s+([\d.]+)`, 'm').exec(printed)?.[1]);
  return {
    types: figure('Types'),
    instantiations: figure('Instantiations'),
    seconds: figure('Check time'),
    megabytes: figure('Memory used') / 1024,
  };
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
