import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'oxc-parser';
import { expect, it } from 'vitest';

/** Maximum size of the published files, all together. Lower a number with the change that makes it possible. */
const most = {
  /** Lines with code: neither blank nor only a comment. */
  codeLines: 15_703,
  files: 190,
  foldersOver20Files: 0,
  functionsOver100Lines: 0,
  /** Names that `index.ts` exports. */
  exportedNames: 61,
  /** Names that any entry point exports. */
  namesOfEntryPoints: 114,
  /** Members of options, metadata and hooks: see `fieldsOf`. */
  fields: 119,
};

const source = fileURLToPath(new URL('.', import.meta.url));
const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !/\.test(-d)?\.ts$|(^|\/)testing\//.test(file))
  .map((file) => {
    const text = readFileSync(join(source, file), 'utf8');
    return { file, text, parsed: parseSync(file, text) };
  });
type File = (typeof files)[number];

const exportsOf = ({ parsed }: File) =>
  parsed.module.staticExports.flatMap(({ entries }) => entries.map((entry) => entry.exportName.name));
const namesOf = (paths: readonly string[]) =>
  new Set(files.filter(({ file }) => paths.includes(file)).flatMap(exportsOf));

function codeLinesOf({ text, parsed }: File): number {
  let code = '';
  let end = 0;
  for (const comment of parsed.comments) {
    code += text.slice(end, comment.start) + text.slice(comment.start, comment.end).replaceAll(/[^\n]/g, '');
    end = comment.end;
  }
  return (code + text.slice(end)).split('\n').filter((line) => line.trim() !== '').length;
}

function longFunctionsOf({ file, text, parsed }: File): readonly string[] {
  const found: string[] = [];
  const visit = ({ start, end }: { readonly start: number; readonly end: number }) => {
    const lines = text.slice(start, end).split('\n').length;
    if (lines > 100) found.push(`${file}:${text.slice(0, start).split('\n').length}: ${lines} lines`);
  };
  new Visitor({
    FunctionDeclaration: visit,
    FunctionExpression: visit,
    ArrowFunctionExpression: visit,
  }).visit(parsed.program);
  return found;
}

/** The entry points whose options, metadata and hooks the author of a service writes. */
const configuration = namesOf(['index.ts', 'meta.ts', 'auth/schemes/jwt.ts', 'adapters/uws/serve.ts']);
/** What `createContext` receives, and the argument of `close`. */
const notConfiguration = new Set(['ContextOptions', 'CloseOptions']);

/**
 * Returns the members of the interfaces that `configuration` exports and that are named `…Options`, `…Meta`, `…Limits`
 * or `…Hooks`. Inherited members count where they are declared. Members of a member's own type do not count, and neither
 * do those of aliases, such as `TrpcOptions`, which are tRPC's.
 */
function fieldsOf({ parsed }: File): readonly string[] {
  const found: string[] = [];
  new Visitor({
    TSInterfaceDeclaration({ id: { name }, body }) {
      const counts = configuration.has(name) && !notConfiguration.has(name);
      if (counts && /(Options|Meta|Limits|Hooks)$/.test(name)) found.push(...body.body.map(() => name));
    },
  }).visit(parsed.program);
  return found;
}

const { exports: entryPoints } = JSON.parse(readFileSync(join(source, '../package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, { readonly 'trpc-gateway-source': string }>>;
};
const perFolder = Map.groupBy(files, ({ file }) => dirname(file));
const found: Readonly<Record<keyof typeof most, number | readonly string[]>> = {
  codeLines: files.reduce((sum, file) => sum + codeLinesOf(file), 0),
  files: files.length,
  foldersOver20Files: [...perFolder].filter(([, { length }]) => length > 20).map(([folder]) => folder),
  functionsOver100Lines: files.flatMap(longFunctionsOf),
  exportedNames: namesOf(['index.ts']).size,
  namesOfEntryPoints: namesOf(
    Object.values(entryPoints).map((entry) => entry['trpc-gateway-source'].replace('./src/', '')),
  ).size,
  fields: files.flatMap(fieldsOf).length,
};

it.each(Object.entries(most))('the published files have at most as many %s as before: %i', (name, limit) => {
  const value = found[name as keyof typeof most];
  // A list shows what to shorten.
  const excess = typeof value === 'number' ? Math.max(value, limit) : value.length > limit ? value : limit;
  expect(excess).toBe(limit);
});
