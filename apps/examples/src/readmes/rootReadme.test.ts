import { freePort } from '@petstore/testing/freePort';
import { expect, test, vi } from 'vitest';
import { newSnippets, readReadme } from './readme.ts';

// Runs a compiler and a process, on a machine that may be busy.
vi.setConfig({ testTimeout: 180_000 });

test('the gateway in the README compiles, and serves its greeting over REST and tRPC', async () => {
  const readme = await readReadme('README.md');
  const program = readme.blocks('ts').find((block) => block.startsWith('// server.ts\n')) ?? '';
  const [, shown] =
    /^curl http:\/\/127\.0\.0\.1:3000\/v1\/greetings\/Ada\n# (.*)$/m.exec(readme.blocks('sh').join('')) ?? [];
  const { write, compile, start } = await newSnippets();
  const port = await freePort();
  await write({ 'server.ts': program.replace('3000', String(port)) });
  await compile();
  await start('server.ts', port);
  const origin = `http://127.0.0.1:${port}`;
  expect(await (await fetch(`${origin}/v1/greetings/Ada`)).text()).toBe(shown);
  const input = encodeURIComponent('{"name":"Ada"}');
  expect(await (await fetch(`${origin}/trpc/greet?input=${input}`)).json()).toEqual({
    result: { data: { text: 'Hello, Ada.' } },
  });
});
