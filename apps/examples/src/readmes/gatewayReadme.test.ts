import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandMissing } from '@petstore/testing/commandMissing';
import { freePort } from '@petstore/testing/freePort';
import { expect, test } from 'vitest';
import { curlLines, newSnippets, printedBy, readReadme } from './readme.ts';

const folder = 'docs/gateway';
const files = (await readdir(fileURLToPath(new URL(`../../../../${folder}`, import.meta.url)))).toSorted();
const readme = await readReadme('packages/gateway/README.md');
const pages = new Map(
  await Promise.all(
    files.map(async (file) => [basename(file, '.md'), await readReadme(`${folder}/${file}`)] as const),
  ),
);

const noCurl = commandMissing('curl');

/** The programs of the README and the pages, by the file name in their first line. Other blocks are fragments. */
const programs = Object.fromEntries(
  [readme, ...pages.values()]
    .flatMap(({ blocks }) => blocks('ts').concat(blocks('diff')))
    .flatMap((block) => {
      const [, name] = /^\/\/ (\w+\.ts)\n/.exec(block) ?? [];
      return name === undefined ? [] : [[name, block] as const];
    }),
);

/** Writes the programs to a folder, with a free port. */
async function writePrograms() {
  const port = await freePort();
  const snippets = await newSnippets();
  await snippets.write(
    Object.fromEntries(
      Object.entries(programs).map(([name, text]) => [name, text.replaceAll('3000', String(port))]),
    ),
  );
  return { ...snippets, port, origin: `http://127.0.0.1:${port}` };
}

test('the README of trpc-gateway and the pages of docs/gateway have these programs', () => {
  expect(Object.keys(programs)).toEqual([
    'router.ts',
    'server.ts',
    'client.ts',
    'withKeys.ts',
    'jwts.ts',
    'retries.ts',
    'compressed.ts',
    'orders.ts',
    'fieldErrors.ts',
    'payments.ts',
    'tenants.ts',
    'limits.ts',
    'policies.ts',
    'exports.ts',
    'webhooks.ts',
    'inProcess.ts',
  ]);
});

test('the programs of the README and of the pages compile', async () => {
  const { compile } = await writePrograms();
  await expect(compile()).resolves.toBeUndefined();
});

test('inProcess.ts prints its last comment', async () => {
  const { run } = await writePrograms();
  expect(await run('inProcess.ts')).toBe(`${printedBy(programs['inProcess.ts'] ?? '')}\n`);
});

/** The `curl` commands of the README and the pages, by the server above them: `server.ts` of the README if there is none. */
const curls = new Map<string, ReturnType<typeof curlLines>>();
for (const { text } of [readme, ...pages.values()]) {
  for (const part of text.split(/^(?=```ts\n\/\/ )/m)) {
    const [, program = ''] = /^```ts\n\/\/ (\w+\.ts)\n/.exec(part) ?? [];
    const server = programs[program]?.includes('await serve(') ? program : 'server.ts';
    const lines = curlLines(part);
    if (lines.length > 0) curls.set(server, [...(curls.get(server) ?? []), ...lines]);
  }
}

test('curl lines are read for these servers', () => {
  expect([...curls.keys()]).toEqual([
    'server.ts',
    'withKeys.ts',
    'compressed.ts',
    'orders.ts',
    'fieldErrors.ts',
    'payments.ts',
    'exports.ts',
    'webhooks.ts',
  ]);
});

/** What is tried on a server besides its `curl` lines. */
const furtherChecks: Readonly<
  Record<string, (context: Awaited<ReturnType<typeof writePrograms>>) => Promise<void>>
> = {
  async 'server.ts'({ run }) {
    for (const client of ['client.ts', 'retries.ts']) {
      expect([client, await run(client)]).toEqual([client, `${printedBy(programs[client] ?? '')}\n`]);
    }
  },
  async 'withKeys.ts'({ origin }) {
    expect((await fetch(`${origin}/v1/me`)).status).toBe(401);
    expect((await fetch(`${origin}/v1/health`)).status).toBe(200);
    const headers = { authorization: 'Bearer the-key-of-ada', 'content-type': 'application/json' };
    const response = await fetch(`${origin}/v1/pets`, { method: 'POST', headers, body: '{"name":"Rex"}' });
    expect(await response.json()).toEqual({ name: 'Rex' });
  },
};

test.for([...curls])('the curl lines of %s print the comments below them', async ([server, lines]) => {
  const context = await writePrograms();
  await context.start(server, context.port);
  for (const [line, printed] of noCurl ? [] : lines) {
    const output = await context.shell(line.replace('3000', String(context.port)));
    expect([line, output.trimEnd()]).toEqual([line, printed]);
  }
  await furtherChecks[server]?.(context);
});

test('limits.ts counts the calls of a key, and rejects the 11th invalid token with 429', async () => {
  const { start, port, origin } = await writePrograms();
  await start('limits.ts', port);
  const readBook = (key: string) =>
    fetch(`${origin}/v1/books/1`, { headers: { authorization: `Bearer ${key}` } });
  const response = await readBook('the-key-of-ada');
  expect([response.status, response.headers.get('ratelimit-policy')]).toEqual([200, '"default";q=100;w=60']);
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 11; attempt += 1) statuses.push((await readBook('x')).status);
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
});
