#!/usr/bin/env node
// `npm run docs`: prints the docstrings of types, and the map of the packages from their imports, between the markers
// `<!-- printed: … -->` of the pages. `--check` writes nothing, and fails if a page is out of date.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path) => readFileSync(root + path, 'utf8');
const filesOf = (...patterns) =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard', ...patterns], { cwd: root, encoding: 'utf8' })
    .split('\n')
    // Git lists deleted files too.
    .filter((file) => file !== '' && existsSync(root + file));

/** Returns the docstring before a place in a source, as Markdown. Comments of a line may be between them. */
function docsBefore({ comments, text }, start) {
  const isBefore = ({ end, value }) =>
    end < start && value.startsWith('*') && /^\s*(\/\/.*\s*)*$/.test(text.slice(end, start));
  const lines = (comments.find(isBefore)?.value ?? '').replaceAll(/^\s*\* ?/gm, '').trim();
  const [docs = '', ...examples] = lines.split('@example\n');
  const tags = docs
    .replaceAll(/@param (\w+)/g, '\n`$1`:')
    .replaceAll(/@returns/g, '\nReturns')
    .replaceAll(/@throws(?: \{(\w+)\})?/g, (_, error) => `\nThrows${error ? ` \`${error}\`` : ''}`);
  return [tags.trim(), ...examples.map((code) => `\`\`\`ts\n${code.trim()}\n\`\`\``)].join('\n\n').trim();
}

/** Prints what an interface extends: a type, or what `Omit`, `Pick` or `Partial` leave of it. Links to its heading on the page. */
function printBase({ expression, typeArguments }, page) {
  const [base, keys] = typeArguments?.params ?? [];
  const isUtility = ['Omit', 'Pick', 'Partial'].includes(expression.name);
  const name = isUtility ? base.typeName.name : expression.name;
  const link = page.includes(`\n## ${name}\n`) ? `[\`${name}\`](#${name.toLowerCase()})` : `\`${name}\``;
  const names = isUtility
    ? (keys?.types ?? [keys]).flatMap((key) => (key ? [`\`${key.literal.value}\``] : [])).join(', ')
    : '';
  if (expression.name === 'Pick') return `And ${names} of ${link}.`;
  return `And the options of ${link}${names === '' ? '' : `, except ${names}`}.`;
}

/** Prints a signature, a long one as a block. */
function printSignature(source) {
  const signature = source.replaceAll(/\s+/g, ' ').replace(/;$/, '');
  if (signature.length < 100) return `\`\` ${signature} \`\``;
  return `\`\`\`ts\n${source.replaceAll('\n  ', '\n')}\n\`\`\``;
}

/** Prints the docstring of a type, what it extends, and a heading for each of its members. */
function printType(file, name, page) {
  const text = read(file);
  const { comments, program } = parseSync(file, text);
  const statement = program.body.find(({ declaration }) => declaration?.id?.name === name);
  const { body, extends: bases = [], typeAnnotation } = statement.declaration;
  const members = (body?.body ?? typeAnnotation.members ?? []).map((member) => {
    const signature = printSignature(text.slice(member.key.start, member.end));
    const docs = docsBefore({ comments, text }, member.start);
    return [`### ${member.key.name}`, signature, docs].filter((part) => part !== '').join('\n\n');
  });
  const extended = bases.map((base) => printBase(base, page));
  return [docsBefore({ comments, text }, statement.start), ...extended, ...members].join('\n\n').trim();
}

/** Prints which packages import which, without an arrow that others imply. */
function printMap() {
  const folders = new Map(
    filesOf(':(glob)packages/*/package.json', ':(glob)apps/*/package.json').map((file) => [
      JSON.parse(read(file)).name,
      file.replace('/package.json', ''),
    ]),
  );
  const importsOf = (folder) => {
    const files = filesOf(`${folder}/src/*.ts`).filter(
      (file) => !/\.test(-d)?\.ts$|\/src\/.*testing\//.test(file),
    );
    const sources = files.map(read).join('\n');
    const names = [...sources.matchAll(/from '((?:@petstore\/|trpc-gateway)[\w-]*)/g)].map(
      ([, name]) => name,
    );
    return new Set(names.map((name) => folders.get(name)).filter((other) => other && other !== folder));
  };
  const imports = new Map([...folders.values()].map((folder) => [folder, importsOf(folder)]));
  const reaches = (from, to) =>
    imports.get(from).has(to) || [...imports.get(from)].some((via) => reaches(via, to));
  const arrows = [...imports].flatMap(([from, targets]) =>
    [...targets]
      .filter((to) => ![...targets].some((via) => via !== to && reaches(via, to)))
      .map((to) => `  ${from} --> ${to}`),
  );
  return `\`\`\`mermaid\nflowchart TD\n${arrows.toSorted().join('\n')}\n\`\`\``;
}

const outdated = filesOf('docs/*.md', 'CONTRIBUTING.md').filter((page) => {
  const text = read(page);
  const printed = text.replaceAll(
    /(<!-- printed: (\S+?)(?:#(\w+))? -->\n).*?(<!-- \/printed -->)/gs,
    (_, start, file, name, end) =>
      `${start}\n${file === 'imports' ? printMap() : printType(file, name, text)}\n\n${end}`,
  );
  if (printed !== text && !process.argv.includes('--check')) writeFileSync(root + page, printed);
  return printed !== text;
});
if (outdated.length > 0 && process.argv.includes('--check')) {
  process.stderr.write(`Out of date: ${outdated.join(', ')}\n`);
  process.exitCode = 1;
}
