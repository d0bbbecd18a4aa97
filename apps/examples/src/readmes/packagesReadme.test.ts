import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { curlLines, newSnippets, readReadme } from './readme.ts';

const root = await readReadme('README.md');
const runtime = await readReadme('packages/runtime/README.md');
const typegen = await readReadme('packages/typegen/README.md');

test('the gateway in the README compiles, and serves its greeting over tRPC, REST and MCP', async () => {
  const { compile, expectPrinted, start, write } = await newSnippets('3000');
  await write(root.programs());
  await compile();
  await start('server.ts');
  const lines = curlLines(root.text);
  expect(lines).toHaveLength(3);
  await expectPrinted(lines);
});

test('the server in the README of trpc-gateway-runtime compiles, and has health checks, metrics and a docs page', async () => {
  const [program = ''] = runtime.blocks('ts');
  const { compile, onPorts, start, write } = await newSnippets('3000', '9090');
  await write({
    // One process: with workers it listens before all of them have started, and they outlive the folder.
    'server.ts': program.replace("'auto'", '1'),
    'router.ts': (await readReadme('packages/gateway/README.md')).programs()['router.ts'] ?? '',
    'database.ts':
      'export const openDatabase = async () => ({ ping: async () => {}, close: async () => {} });',
  });
  await compile();
  await start('server.ts');
  const get = async (address: string) => (await fetch(onPorts(`http://127.0.0.1:${address}`))).text();
  expect(await get('3000/v1/books/1')).toBe('{"id":1,"title":"Middlemarch"}');
  expect(await get('3000/docs')).toContain('docs/scalar.js');
  const [[, ready] = []] = curlLines(runtime.text);
  expect(await get('9090/readyz')).toBe(ready);
  expect(await get('9090/metrics')).toContain('gateway_calls_total{protocol="rest",operation="book"} 1\n');
});

test('the commands in the README of trpc-gateway-typegen print and check types, and its programs compile with them', async () => {
  const main = fileURLToPath(new URL('../../../../packages/typegen/src/main.ts', import.meta.url));
  const programs = typegen.programs();
  expect(Object.keys(programs)).toEqual(['router.ts', 'client.ts', 'generate.ts']);
  const { compile, run, shell, write } = await newSnippets();
  await write(programs);
  const commands = typegen
    .blocks('sh')
    .join('')
    .matchAll(/^npx --no -- trpc-gateway-typegen (.*)$/gm);
  const lines = [...commands].map(([, options]) => `--conditions=trpc-gateway-source '${main}' ${options}`);
  expect(lines).toHaveLength(2);
  for (const line of lines) await shell(`'${process.execPath}' ${line}`);
  const types = await shell('cat bookTypes.ts');
  expect(types).toContain('book: QueryProcedure<{ id: number }, Book>');
  await compile();
  expect(await run('generate.ts')).toBe(`${types}\n`);
});
