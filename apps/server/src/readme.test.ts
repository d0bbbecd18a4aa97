import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { configurationTable } from './configurationText.ts';
import { commandMissing } from '@petstore/testing/commandMissing';
import { apiKey, newFolder } from './testing/newFolder.ts';

const execute = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const readme = await readFile(join(root, 'README.md'), 'utf8');

/** The fenced blocks of one language, in order. */
const blocks = (language: string) =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, block = '']) => block);

/** The README's server is the one at `origin`. */
const at = (origin: string, snippet: string) => snippet.replaceAll('http://127.0.0.1:3000', origin);

describe('the README', () => {
  test.skipIf(commandMissing('curl'))('shows curl lines that answer what stands below them', async () => {
    const { serve } = await newFolder();
    const { origin } = await serve({ env: { API_KEY: apiKey } });
    const steps = [
      ...blocks('sh')
        .join('')
        .matchAll(/^(curl (?:.|\n)*?)\n# (.*)$/gm),
    ];
    expect(steps.length).toBeGreaterThanOrEqual(5);
    for (const [, line = '', response] of steps) {
      const { stdout } = await execute('bash', ['-c', at(origin, line)], {
        env: { PATH: process.env.PATH, KEY: apiKey },
      });
      // With `-i` the README shows one line of the response.
      const shown = line.startsWith('curl -i ')
        ? stdout.split('\r\n').find((each) => each === response)
        : stdout;
      expect({ line, answer: shown }).toEqual({ line, answer: response });
    }
  });

  test.for(blocks('ts').map((snippet, index) => [index + 1, snippet] as const))(
    'shows a tRPC client that compiles and runs: %d',
    async ([, snippet]) => {
      const { serve } = await newFolder();
      const { origin } = await serve({ env: { API_KEY: apiKey } });
      // Inside this package, so that the packages it imports are found, and where no linter looks.
      const dist = fileURLToPath(new URL('../dist', import.meta.url));
      await mkdir(dist, { recursive: true });
      const folder = await mkdtemp(join(dist, 'readme-'));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      await writeFile(join(folder, 'snippet.ts'), at(origin, snippet));
      await writeFile(
        join(folder, 'tsconfig.json'),
        JSON.stringify({
          extends: join(root, 'tsconfig.json'),
          compilerOptions: { noEmit: true, composite: false, incremental: false },
          files: ['snippet.ts'],
        }),
      );
      await execute(join(root, 'node_modules/.bin/tsc'), ['-p', folder]);
      const { stdout } = await execute(
        process.execPath,
        ['--conditions=@petstore/source', join(folder, 'snippet.ts')],
        { env: { PATH: process.env.PATH, KEY: apiKey } },
      );
      expect(stdout).toBe('true\n');
    },
  );

  test('shows the configuration as the schema prints it', () => {
    const [, table = ''] = /<!-- configuration -->\n(.*)<!-- \/configuration -->/s.exec(readme) ?? [];
    expect(unpadded(table)).toBe(unpadded(configurationTable()));
  });

  test('shows of the bench what one run of it measured', async () => {
    const run = tablesOf(await readFile(join(root, 'docs/bench/bench.md'), 'utf8'))[0] ?? [];
    const [head = [], ...shown] =
      tablesOf(/<!-- bench -->(.*)<!-- \/bench -->/s.exec(readme)?.[1] ?? '')[0] ?? [];
    expect(shown.length).toBeGreaterThan(10);
    for (const row of shown) {
      // The first table of the run: with its spread.
      const measured = run.find(([name]) => name === row[0]) ?? [];
      const ratios = head.map((title) => measured[run[0]?.indexOf(title) ?? -1]?.split(' ±')[0]);
      expect(row).toEqual(ratios);
    }
  });
});

/** The Markdown tables of a text: their heads and rows, cell by cell. */
const tablesOf = (text: string) =>
  (text.match(/(^\|.*\n)+/gm) ?? []).map((table) =>
    table
      .trim()
      .split('\n')
      .filter((line) => !/^\|[ :-]*-/.test(line))
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      ),
  );

/** A Markdown table without what a formatter adds to align its columns. */
const unpadded = (table: string) =>
  table
    .trim()
    .replaceAll(/ +/g, ' ')
    .replaceAll(/ ?-{3,} ?/g, '---');
