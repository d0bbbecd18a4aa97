import { compile, everyCompiler } from '@petstore/testing/compile';
import { everyForm } from '@petstore/testing/forms';
import { describe, expect, it } from 'vitest';

const start = `import type { AppRouter, RouterInputs, RouterOutputs } from '@petstore/types';
import { createTRPCClient, httpLink } from '@trpc/client';
export const client = createTRPCClient<AppRouter>({ links: [httpLink({ url: 'http://127.0.0.1/trpc' })] });
`;

const rightCalls = `${start}
import type { components, paths } from '@petstore/types/openapi';
import document from '@petstore/types/openapi.json' with { type: 'json' };
const page: RouterOutputs['listPets'] = await client.listPets.query();
const input: RouterInputs['createPet'] = { name: 'Rex', categoryId: 1 };
const { id, status } = await client.createPet.mutate(input);
const animal: components['schemas']['Animal'] = await client.getPet.query({ petId: id });
export const version: string = document.info.version;
export type Limit = NonNullable<paths['/pets']['get']['parameters']['query']>['limit'];
export const limit: Limit = page.length;
export { animal, status };
`;

const wrongCalls: readonly (readonly [name: string, call: string])[] = [
  ['a field is missing', "client.createPet.mutate({ name: 'Rex' })"],
  ['a field is of another type', "client.createPet.mutate({ name: 'Rex', categoryId: '1' })"],
  ['a field is unknown', "client.createPet.mutate({ name: 'Rex', categoryId: 1, color: 'red' })"],
  ['a value is not one of the status', "client.listPets.query({ status: 'lost' })"],
  ['an input is missing', 'client.getPet.query()'],
  ['an input is null', 'client.getPet.query({ petId: null })'],
  ['a query is called as a mutation', 'client.listPets.mutate()'],
  ['there is no such procedure', 'client.listOrders.query()'],
  ['an output has no such field', '(await client.createPet.mutate({ name: "", categoryId: 1 })).color'],
  ['an optional output is taken for granted', '(await client.getPet.query({ petId: 1 })).status.length'],
  ['an output is of another type', 'const wrong: string[] = await client.listPets.query()'],
];

const options = everyCompiler.flatMap(({ compiler, exactOptionalPropertyTypes }) =>
  (everyForm ? [true, false] : [false]).map((skipLibCheck) => ({
    compiler,
    exactOptionalPropertyTypes,
    skipLibCheck,
  })),
);

describe('a consumer with only @trpc/client, its peer and these types', () => {
  it.each(options)(
    'a consumer compiles valid calls and rejects each invalid one: $compiler, exactOptionalPropertyTypes $exactOptionalPropertyTypes, skipLibCheck $skipLibCheck',
    async (each) => {
      const wrong = `${start}${wrongCalls.map(([name, call]) => `{ ${call}; } // ${name}\n`).join('')}`;
      const files = { 'right.ts': rightCalls, 'wrong.ts': wrong };
      const printed = await compile({ files, packages: 'consumer', ...each });
      const errors = printed.split('\n').filter((line) => line.includes('error TS'));
      const rejected = errors.map((line) => {
        const row = /^wrong\.ts\((\d+),/.exec(line)?.[1];
        return row === undefined ? line : wrong.split('\n')[Number(row) - 1]?.split(' // ')[1];
      });
      expect([...new Set(rejected)]).toEqual(wrongCalls.map(([name]) => name));
    },
    120_000,
  );
});
