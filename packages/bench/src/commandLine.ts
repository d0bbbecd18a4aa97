import { parseArgs } from 'node:util';
import { cases } from './cases.ts';
import { contenders, type Suite } from './contenders.ts';
import { httpArena } from './httpArena/httpArena.ts';

/** The pet store's cases, and those of HttpArena, written again for the same work (docs/bench/README.md). */
export const suites: Readonly<Record<string, Suite>> = {
  pets: { cases, contenders },
  'http-arena': httpArena,
};

export type BenchOptions = NonNullable<ReturnType<typeof readCommandLine>>;

/** The contenders of a quick run of the pet store's cases: the limit, ours, and the two peers that people come from. */
export const quickContenders = ['minimal', 'gateway', 'gateway-middleware', 'fastify'];

const namesOf = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);

/** What `--cases` or `--contenders` of each suite may name. */
const ofEachSuite = (part: keyof Suite) =>
  Object.entries(suites)
    .map(([suite, { [part]: list }]) => `\n                            ${suite}: ${namesOf(list).join(', ')}`)
    .join('');

export const help = `npm run bench -- [options]

Without options: every case of every contender.

  --suite NAME            one of ${Object.keys(suites).join(', ')}; without it, pets
  --quick                 ${quickContenders.join(', ')} (another suite: of all): 7 rounds of 0.25 s
  --cases NAMES           of${ofEachSuite('cases')}
  --contenders NAMES      of${ofEachSuite('contenders')}
  --rounds NUMBER         how often everything is measured (5), again where other programs disturb it
  --seconds NUMBER        how long each time (2)
  --floors                fails where a ratio is below packages/bench/floors.json, after a second try

Names are given with commas between them. bench.json, bench.md and bench.svg go to packages/bench/results.
`;

/** @returns `undefined` for `--help`. @throws {Error} for an unknown option or an invalid value */
export function readCommandLine(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean' },
      suite: { type: 'string', default: 'pets' },
      quick: { type: 'boolean', default: false },
      cases: { type: 'string' },
      contenders: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      floors: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const { quick } = values;
  const suite = suites[values.suite];
  if (suite === undefined)
    throw new Error(`--suite is ${values.suite}; it must be one of ${Object.keys(suites).join(', ')}.`);
  const all = namesOf(suite.contenders);
  const isPets = suite === suites['pets'];
  const seconds = positive('seconds', values.seconds, quick ? 0.25 : 2);
  return {
    suite,
    cases: names(values.cases, namesOf(suite.cases)),
    contenders: names(values.contenders, all, quick && isPets ? quickContenders : all),
    rounds: positive('rounds', values.rounds, quick ? 7 : 5),
    seconds,
    // A shorter one compiles too little of a slow case.
    warmUpSeconds: Math.max(seconds, 1),
    attempts: quick ? 1 : 3,
    checkFloors: values.floors,
  };
}

function names(
  value: string | undefined,
  known: readonly string[],
  standard: readonly string[] = known,
): readonly string[] {
  const chosen = value?.split(',').map((name) => name.trim()) ?? standard;
  const unknown = chosen.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new Error(`"${unknown}" is not valid; it must be one of ${known.join(', ')}.`);
  return chosen;
}

function positive(name: string, option: string | undefined, standard: number): number {
  const value = option === undefined ? standard : Number(option);
  if (!(value > 0)) throw new Error(`--${name} is ${option}; it must be a number above 0.`);
  return value;
}
