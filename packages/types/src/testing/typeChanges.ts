import { compile } from '@petstore/testing/compile';

/** A change that clients of the router notice. */
interface Change {
  readonly isBreaking: boolean;
  readonly sentence: string;
}

/** Assignability checks for a procedure of both routers, with the change that each reports if it fails. */
const typeChecks: readonly (readonly [
  from: 'before' | 'after',
  part: 'RouterInputs' | 'RouterOutputs',
  isBreaking: boolean,
  sentence: string,
])[] = [
  ['before', 'RouterInputs', true, 'some inputs that were valid are no longer valid'],
  ['after', 'RouterOutputs', true, 'its output can have values that were not possible before'],
  ['after', 'RouterInputs', false, 'it accepts inputs that were not valid before'],
  ['before', 'RouterOutputs', false, 'some values of its output are no longer possible'],
];

/**
 * Returns the changes between two versions of a router's flat types that affect tRPC clients. The compiler checks that the
 * previous inputs are assignable to the current ones, and the current outputs to the previous ones.
 */
export async function typeChanges(before: string, after: string): Promise<readonly Change[]> {
  const old = proceduresOf(before);
  const now = proceduresOf(after);
  const changes: Change[] = [];
  for (const [name, kind] of old) {
    const kindNow = now.get(name);
    if (kindNow === undefined) changes.push({ isBreaking: true, sentence: `The procedure ${name} is gone` });
    else if (kindNow !== kind)
      changes.push({ isBreaking: true, sentence: `${name}: it is a ${kindNow}, was a ${kind}` });
  }
  for (const name of now.keys()) {
    if (!old.has(name)) changes.push({ isBreaking: false, sentence: `The procedure ${name} is new` });
  }
  const checks = [...old.keys()]
    .filter((name) => now.has(name))
    .flatMap((name) => typeChecks.map((typeCheck) => ({ name, typeCheck })));
  const lines = checks.map(({ name, typeCheck: [from, part] }, at) => {
    const to = from === 'before' ? 'after' : 'before';
    return `export const value${at}: ${to}.${part}['${name}'] = null as unknown as ${from}.${part}['${name}'];`;
  });
  const failedChecks = await linesThatDoNotCompile(before, after, lines);
  for (const [at, { name, typeCheck }] of checks.entries()) {
    const [, , isBreaking, sentence] = typeCheck;
    if (failedChecks.has(at)) changes.push({ isBreaking, sentence: `${name}: ${sentence}` });
  }
  return changes;
}

/** Returns the procedures of a router with their kinds, from the output of `trpc-gateway-typegen`. */
function proceduresOf(text: string): ReadonlyMap<string, string> {
  const matches = text.matchAll(/^ {4}(\w+): (Query|Mutation|Subscription)Procedure</gm);
  return new Map([...matches].map(([, name = '', kind = '']) => [name, kind.toLowerCase()]));
}

/** Compiles lines that compare the types. @returns the indexes of the lines with errors */
async function linesThatDoNotCompile(
  before: string,
  after: string,
  lines: readonly string[],
): Promise<ReadonlySet<number>> {
  const imports = [
    "import type * as before from './before.ts';",
    "import type * as after from './after.ts';",
  ];
  const files = { 'before.ts': before, 'after.ts': after, 'compare.ts': [...imports, ...lines].join('\n') };
  const printed = await compile({
    files,
    compiler: 'TypeScript 7',
    packages: 'repository',
    exactOptionalPropertyTypes: true,
    flags: ['--pretty', 'false'],
  });
  const errors = [...printed.matchAll(/^(\S+)\((\d+),\d+\): error .*$/gm)];
  const elsewhere = errors.find(([, file]) => file !== 'compare.ts');
  if (elsewhere) throw new Error(`The types cannot be compared: ${elsewhere[0]}`);
  return new Set(errors.map(([, , line]) => Number(line) - 1 - imports.length));
}
