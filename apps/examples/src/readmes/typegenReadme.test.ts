import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { newSnippets, readReadme } from './readme.ts';

const command = fileURLToPath(new URL('../../../../packages/typegen/src/main.ts', import.meta.url));

test('the commands in the README of trpc-gateway-typegen print and check types, and its programs compile with them', async () => {
  const readme = await readReadme('packages/typegen/README.md');
  const programs = Object.fromEntries(
    readme.blocks('ts').map((block) => [/^\/\/ (.*)$/m.exec(block)?.[1] ?? '', block]),
  );
  expect(Object.keys(programs)).toEqual(['router.ts', 'client.ts', 'generate.ts']);
  const { write, compile, run, shell } = await newSnippets();
  await write(programs);
  const lines =
    readme
      .blocks('sh')
      .join('')
      .match(/^npx --no -- trpc-gateway-typegen .*$/gm) ?? [];
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    await shell(
      line.replace(
        'npx --no -- trpc-gateway-typegen',
        `'${process.execPath}' --conditions=trpc-gateway-source '${command}'`,
      ),
    );
  }
  const types = await shell('cat bookTypes.ts');
  expect(types).toContain('book: QueryProcedure<{ id: number }, Book>');
  await compile();
  expect(await run('generate.ts')).toBe(`${types}\n`);
});
