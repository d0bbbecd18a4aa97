import { compile } from '@petstore/testing/compile';
import type { Change } from './change.ts';

/** What is asked of the compiler for a procedure that both have, and what it means where the answer is no. */
interface Question {
  readonly from: 'before' | 'after';
  readonly part: 'RouterInputs' | 'RouterOutputs';
  readonly isBreaking: boolean;
  readonly sentence: string;
}

const questions: readonly Question[] = [
  { from: 'before', part: 'RouterInputs', isBreaking: true, sentence: 'an input that was right is no more' },
  {
    from: 'after',
    part: 'RouterOutputs',
    isBreaking: true,
    sentence: 'its output may be what it could not be before',
  },
  {
    from: 'after',
    part: 'RouterInputs',
    isBreaking: false,
    sentence: 'it takes inputs that were not right before',
  },
  {
    from: 'before',
    part: 'RouterOutputs',
    isBreaking: false,
    sentence: 'its output is no more all that it could be',
  },
];

/**
 * What of the difference between two texts of a router's flat types breaks clients over tRPC. Whether a type fits another
 * is the compiler's to say: each input that was right must be right, and each output must be one that was expected.
 */
export async function typeChanges(before: string, after: string): Promise<readonly Change[]> {
  const old = proceduresOf(before);
  const now = proceduresOf(after);
  const changes: Change[] = [];
  for (const [name, kind] of old) {
    const kindNow = now.get(name);
    if (kindNow === undefined) changes.push({ isBreaking: true, sentence: `The procedure ${name} is gone` });
    else if (kindNow !== kind)
      changes.push({ isBreaking: true, sentence: `${name}: it is a ${kindNow}, and was a ${kind}` });
  }
  for (const name of now.keys()) {
    if (!old.has(name)) changes.push({ isBreaking: false, sentence: `The procedure ${name} is new` });
  }
  const asked = [...old.keys()]
    .filter((name) => now.has(name))
    .flatMap((name) => questions.map((question) => ({ name, question })));
  const lines = asked.map(({ name, question: { from, part } }, at) => {
    const to = from === 'before' ? 'after' : 'before';
    return `export const value${at}: ${to}.${part}['${name}'] = null as unknown as ${from}.${part}['${name}'];`;
  });
  const wrong = await linesThatDoNotCompile(before, after, lines);
  for (const [at, { name, question }] of asked.entries()) {
    const { isBreaking, sentence } = question;
    if (wrong.has(at)) changes.push({ isBreaking, sentence: `${name}: ${sentence}` });
  }
  return changes;
}

/** A router's procedures by name, as `petstore-typegen` writes them, with what they are. */
function proceduresOf(text: string): ReadonlyMap<string, string> {
  const found = text.matchAll(/^ {4}(\w+): (Query|Mutation|Subscription)Procedure</gm);
  return new Map([...found].map(([, name = '', kind = '']) => [name, kind.toLowerCase()]));
}

/** @returns which of the lines, from 0 on */
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
  const faults = [...printed.matchAll(/^(\S+)\((\d+),\d+\): error .*$/gm)];
  const elsewhere = faults.find(([, file]) => file !== 'compare.ts');
  if (elsewhere) throw new Error(`The types cannot be compared: ${elsewhere[0]}`);
  return new Set(faults.map(([, , line]) => Number(line) - 1 - imports.length));
}
