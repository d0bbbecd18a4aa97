import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' })
  .trim()
  .split('\n')
  .filter((page) => !/CHANGELOG|^\.changeset\//.test(page));

/** The `npm install` commands of all pages. */
const commands = pages.flatMap((page) =>
  Array.from(
    readFileSync(`${root}${page}`, 'utf8').matchAll(/\bnpm (?:install|i|add)\b[^`\n]*/g),
    ([command]) => [page, command] as const,
  ),
);

test('no page installs a package of this repository by name, because none is on npm yet', () => {
  expect(commands.length).toBeGreaterThan(5);
  expect(commands.filter(([, command]) => / (?:trpc-gateway|@petstore\/)/.test(command))).toEqual([]);
});

test('each packed file that a page installs has the version of its package', () => {
  const files = commands.flatMap(([page, command]) =>
    Array.from(
      command.matchAll(/(?:petstore|trpc-gateway)(?:-([a-z]+))?-(\d\S+)\.tgz/g),
      ([, name = 'gateway', version]) => {
        const manifest = readFileSync(`${root}packages/${name}/package.json`, 'utf8');
        return [page, version, (JSON.parse(manifest) as { version: string }).version] as const;
      },
    ),
  );
  expect(files.length).toBeGreaterThan(5);
  expect(files.filter(([, version, current]) => version !== current)).toEqual([]);
});
