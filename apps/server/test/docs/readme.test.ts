import { execFile, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { configurationList } from '../../src/configuration/configurationText.ts';
import { commandMissing } from '@petstore/testing/commandMissing';
import { apiKey, newFolder } from '../testing/newFolder.ts';
import { createPet } from '../testing/petCalls.ts';

const execute = promisify(execFile);
const root = fileURLToPath(new URL('../../../..', import.meta.url));
const readPage = (path: string) => readFile(join(root, path), 'utf8');

/** Pages with snippets that call the pet store. */
const pages = await Promise.all(
  ['README.md', 'docs/clients.md'].map(async (path) => ({ path, text: await readPage(path) })),
);

/** The fenced blocks of one language, in order. */
const blocksOf = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, block = '']) => block);

/** Replaces the origin that the pages show. */
const at = (origin: string, snippet: string) => snippet.replaceAll('http://127.0.0.1:3000', origin);

/** The curl commands of a page that call the pet store, with the response that the page shows. */
const curlSteps = (text: string) =>
  // A command runs to its comment; one without a response stands alone in its block.
  Array.from(
    blocksOf(text, 'sh').flatMap((block) => Array.from(block.matchAll(/^(curl (?:.|\n)*?)\n# (.*)$/gm))),
    ([, command = '', response]) => ({ command, response }),
  ).filter(({ command }) => command.includes('/v1/pets'));

/** The programs of a page that call the pet store. */
const clients = pages.flatMap(({ text }) =>
  blocksOf(text, 'ts').filter((program) => program.includes('@petstore/types')),
);

const clientsPage = await readPage('docs/clients.md');

/** The program of docs/clients.md that follows the links to the next page. */
const loopIn = (language: string) =>
  blocksOf(clientsPage, language).find((program) => program.includes('next')) ?? '';

/** Pythons that may have the package requests: that of the machine, and that of `.ci/tools`, for Schemathesis. */
const pythons = [
  'python3',
  join(
    process.env.SCHEMATHESIS_DIR ??
      join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'petstore-schemathesis'),
    'bin/python',
  ),
];
const python = pythons.find((command) => spawnSync(command, ['-c', 'import requests']).status === 0);
if (python === undefined) {
  process.stderr.write('SKIPPED: cases that need Python with requests, which this machine does not have.\n');
}

/** Starts a pet store with animals of these names. They are created at once, which takes a few writes to the disk. */
async function serveAnimals(names: readonly string[]): Promise<string> {
  const { serve } = await newFolder();
  const { origin } = await serve({ env: { API_KEY: apiKey } });
  const statuses = await Promise.all(
    names.map(async (name) => (await createPet(origin, { name, categoryId: 1 })).status),
  );
  expect(statuses.every((status) => status === 201)).toBe(true);
  return origin;
}

/** Compiles TypeScript programs, and returns a function that runs the one at an index and returns its output. */
async function compilePrograms(programs: readonly string[]): Promise<(index: number) => Promise<string>> {
  // Inside this package, so that imports resolve, and in a folder that linters ignore.
  const dist = fileURLToPath(new URL('../../dist', import.meta.url));
  await mkdir(dist, { recursive: true });
  const folder = await mkdtemp(join(dist, 'readme-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [index, program] of programs.entries()) await writeFile(join(folder, `${index}.ts`), program);
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { noEmit: true, composite: false, incremental: false },
      include: ['*.ts'],
    }),
  );
  await execute(join(root, 'node_modules/.bin/tsc'), ['-p', folder]);
  return async (index) => {
    const args = ['--conditions=trpc-gateway-source', join(folder, `${index}.ts`)];
    const { stdout } = await execute(process.execPath, args, {
      env: { PATH: process.env.PATH, KEY: apiKey },
    });
    return stdout;
  };
}

describe('the README and docs/clients.md', () => {
  test.skipIf(commandMissing('curl')).for(pages)(
    'the curl commands of $path print the responses that it shows',
    async ({ text }) => {
      const { serve } = await newFolder();
      const { origin } = await serve({ env: { API_KEY: apiKey } });
      const steps = curlSteps(text);
      expect(steps.length).toBeGreaterThanOrEqual(2);
      for (const { command, response } of steps) {
        const { stdout } = await execute('bash', ['-c', at(origin, command)], {
          env: { PATH: process.env.PATH, KEY: apiKey },
        });
        // With `-i` the page shows one line of the response.
        const shown = command.startsWith('curl -i ')
          ? stdout.split('\r\n').find((line) => line === response)
          : stdout;
        expect({ command, response: shown }).toEqual({ command, response });
      }
    },
  );

  // More animals than two pages of 100.
  const names = Array.from({ length: 201 }, (_, index) => `Rex ${index + 1}`);
  const linesOf = (stdout: string) => stdout.trimEnd().split('\n').toSorted();

  test('the tRPC clients of the pages compile and print true, and the TypeScript loop prints every animal once, over several pages', async () => {
    // The clients read the first page only.
    const [origin, emptyOrigin] = [await serveAnimals(names), await serveAnimals([])];
    const run = await compilePrograms([
      at(origin, loopIn('ts')),
      ...clients.map((program) => at(emptyOrigin, program)),
    ]);
    expect(linesOf(await run(0))).toEqual(names.toSorted());
    for (const [index, client] of clients.entries()) {
      expect({ client, printed: await run(index + 1) }).toEqual({ client, printed: 'true\n' });
    }
  });

  test.skipIf(python === undefined)(
    'the Python loop of docs/clients.md prints every animal once, over several pages',
    async () => {
      const origin = await serveAnimals(names);
      const program = at(origin, loopIn('python'));
      const { stdout } = await execute(python ?? '', ['-c', program], {
        env: { PATH: process.env.PATH, KEY: apiKey },
      });
      expect(linesOf(stdout)).toEqual(names.toSorted());
    },
  );

  test('docs/configuration.md has the list of variables that the schema prints', async () => {
    const page = await readPage('docs/configuration.md');
    const [, list = ''] = /<!-- configuration -->\n(.*)<!-- \/configuration -->/s.exec(page) ?? [];
    expect(list.trim()).toBe(configurationList());
  });
});
