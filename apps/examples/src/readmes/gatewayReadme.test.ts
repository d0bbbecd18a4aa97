import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { curlLines, type Files, newSnippets, printedBy, readReadme } from './readme.ts';

const folder = 'docs/gateway';
const files = (await readdir(fileURLToPath(new URL(`../../../../${folder}`, import.meta.url)))).toSorted();
const readmes = await Promise.all(
  ['packages/gateway/README.md', ...files.map((file) => `${folder}/${file}`)].map(readReadme),
);
const programs: Files = Object.assign({}, ...readmes.map((readme) => readme.programs()));

async function writePrograms() {
  const snippets = await newSnippets('3000');
  await snippets.write(programs);
  return { ...snippets, origin: snippets.onPorts('http://127.0.0.1:3000') };
}

/** The `curl` commands of the README and the pages, by the server above them: `server.ts` of the README if there is none. */
const curls = new Map<string, ReturnType<typeof curlLines>>();
for (const part of readmes.flatMap(({ text }) => text.split(/^(?=```ts\n\/\/ )/m))) {
  const [, program = ''] = /^```ts\n\/\/ (\w+\.ts)\n/.exec(part) ?? [];
  const server = programs[program]?.includes('await serve(') ? program : 'server.ts';
  const lines = curlLines(part);
  if (lines.length > 0) curls.set(server, [...(curls.get(server) ?? []), ...lines]);
}

test('the 15 programs of the README of trpc-gateway and of the pages of docs/gateway compile', async () => {
  expect(Object.keys(programs)).toHaveLength(15);
  const { compile } = await writePrograms();
  await compile();
});

test.for(['inProcess.ts', 'client.ts', 'retries.ts'])('%s prints its last comment', async (program) => {
  const { run, start } = await writePrograms();
  await start('server.ts');
  expect(await run(program)).toBe(`${printedBy(programs[program] ?? '')}\n`);
});

test('curl lines are read for six servers', () => {
  expect(curls).toHaveLength(6);
});

test.for([...curls])('the curl lines of %s print the comments below them', async ([server, lines]) => {
  expect(lines).not.toEqual([]);
  const { expectPrinted, start } = await writePrograms();
  await start(server);
  await expectPrinted(lines);
});

test('withKeys.ts rejects a call without a key, unless it is public', async () => {
  const { start, origin } = await writePrograms();
  await start('withKeys.ts');
  expect((await fetch(`${origin}/v1/me`)).status).toBe(401);
  expect((await fetch(`${origin}/v1/health`)).status).toBe(200);
  const headers = { authorization: 'Bearer the-key-of-ada', 'content-type': 'application/json' };
  const response = await fetch(`${origin}/v1/pets`, { method: 'POST', headers, body: '{"name":"Rex"}' });
  expect(await response.json()).toEqual({ name: 'Rex' });
});

test('limits.ts counts the calls of a key, and rejects the 11th invalid token with 429', async () => {
  const { start, origin } = await writePrograms();
  await start('limits.ts');
  const readBook = (key: string) =>
    fetch(`${origin}/v1/books/1`, { headers: { authorization: `Bearer ${key}` } });
  const response = await readBook('the-key-of-ada');
  expect([response.status, response.headers.get('ratelimit-policy')]).toEqual([200, '"default";q=100;w=60']);
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 11; attempt += 1) statuses.push((await readBook('x')).status);
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
});
