#!/usr/bin/env node
// Writes llms.txt (https://llmstxt.org), the list of all documents for coding agents, from docs/README.md. `--check` writes
// nothing, and fails if the file is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path) => readFileSync(join(root, path), 'utf8');
const listed = new Set();

/** Returns the entries of the links in a text. The note of an item of a list is the rest of it. */
function entriesOf(text, page) {
  return text.split('\n').flatMap((line) => {
    const links = [...line.matchAll(/\[[^\]]*\]\(([^)#:]+\.md)(?:#[^)]*)?\)/g)];
    const note = /^- (?:\[[^\]]*\]\([^)]*\)(?:, )?)+: (.*)$/.exec(line)?.[1];
    return links.flatMap(([, target]) => {
      const path = normalize(join(dirname(page), target));
      if (listed.has(path)) return [];
      listed.add(path);
      const [, title = path] = /^# (.*)$/m.exec(read(path)) ?? [];
      const plain = note?.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
      return [`- [${title}](${path})${plain === undefined ? '' : `: ${plain}`}`];
    });
  });
}

/** Returns a section for each heading of a page. */
const sectionsOf = (page) =>
  read(page)
    .split(/^## /m)
    .slice(1)
    .map((text) => ({ heading: text.slice(0, text.indexOf('\n')), entries: entriesOf(text, page) }));

const { description } = JSON.parse(read('packages/gateway/package.json'));
const skill = 'packages/gateway/skills/trpc-gateway/SKILL.md';
const start = `- [Skill](${skill}): add the gateway to a tRPC app, write metadata, read an error`;
const sections = [{ heading: 'Start', entries: [start] }, ...sectionsOf('docs/README.md')];
const text = [
  '# trpc-gateway',
  `> ${description}. With a pet store that runs on it.`,
  ...sections.map(({ heading, entries }) => `## ${heading}\n\n${entries.join('\n')}`),
].join('\n\n');

const file = join(root, 'llms.txt');
if (!process.argv.includes('--check')) writeFileSync(file, `${text}\n`);
else if (readFileSync(file, 'utf8') !== `${text}\n`) {
  process.stderr.write('llms.txt is out of date.\n');
  process.exitCode = 1;
}
