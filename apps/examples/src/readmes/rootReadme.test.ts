import { commandMissing } from '@petstore/testing/commandMissing';
import { freePort } from '@petstore/testing/freePort';
import { expect, test } from 'vitest';
import { curlLines, newSnippets, readReadme } from './readme.ts';

const noCurl = commandMissing('curl');

test('the gateway in the README compiles, and serves its greeting over REST, MCP and tRPC', async () => {
  const readme = await readReadme('README.md');
  const program = readme.blocks('ts').find((block) => block.startsWith('// server.ts\n')) ?? '';
  const lines = curlLines(readme.text).filter(([line]) => /\/v1\/greetings|\/mcp/.test(line));
  const { write, compile, start, shell } = await newSnippets();
  const port = await freePort();
  await write({ 'server.ts': program.replace('3000', String(port)) });
  await compile();
  await start('server.ts', port);
  const origin = `http://127.0.0.1:${port}`;
  expect(lines).toHaveLength(2);
  for (const [line, shown] of noCurl ? [] : lines) {
    expect([line, await shell(line.replace('3000', String(port)))]).toEqual([line, shown]);
  }
  const input = encodeURIComponent('{"name":"Ada"}');
  expect(await (await fetch(`${origin}/trpc/greet?input=${input}`)).json()).toEqual({
    result: { data: { text: 'Hello, Ada.' } },
  });
});
