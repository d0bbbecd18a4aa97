import { parseArgs } from 'node:util';
import type { Suite } from './contenders.ts';
import { suites } from './suites.ts';

const measurements = ['throughput', 'start'] as const;
type MeasurementName = (typeof measurements)[number];

export interface BenchOptions {
  readonly suite: Suite;
  readonly measurements: readonly MeasurementName[];
  readonly cases: readonly string[];
  readonly contenders: readonly string[];
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  readonly attempts: number;
  readonly starts: number;
  readonly checkFloors: boolean;
  readonly setFloors: boolean;
  /** Whether throughput is measured beside a neighbour too. */
  readonly neighbour: boolean;
  /** Where the report goes. */
  readonly out: string;
}

/** The contenders of a quick run of the pet store's cases: the limit, ours, and the two peers that people come from. */
export const quickContenders = ['minimal', 'gateway', 'gateway-middleware', 'fastify'];

const namesOf = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);

/** What `--cases` or `--contenders` of each suite may name. */
const ofEachSuite = (part: keyof Suite) =>
  Object.entries(suites)
    .map(([suite, { [part]: list }]) => `\n                            ${suite}: ${namesOf(list).join(', ')}`)
    .join('');

export const help = `npm run bench -- [options]

Without options: throughput, start and memory, of every contender.

  --suite NAME            one of ${Object.keys(suites).join(', ')}; without it, pets
  --quick                 throughput of ${quickContenders.join(', ')} (another suite: of all): 7 rounds of 0.25 s
  --measure NAMES         of ${measurements.join(', ')}
  --cases NAMES           of${ofEachSuite('cases')}
  --contenders NAMES      of${ofEachSuite('contenders')}
  --rounds NUMBER         how often everything is measured (5), again where other programs disturb it
  --seconds NUMBER        how long each time (2)
  --floors                fails where a ratio is below packages/bench/floors.json, after a second try
  --set-floors            writes that file: 25% below what is measured
  --neighbour             each throughput again, directly after, beside a program that walks through 64 MB of memory
                          on the core of the load: prints what each contender loses by it
  --out FOLDER            where bench.json, bench.md and bench.svg go (packages/bench/results)

Names are given with commas between them.
`;

/** @returns `undefined` for `--help`. @throws {Error} for an unknown option or an invalid value */
export function readCommandLine(args: readonly string[]): BenchOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean' },
      suite: { type: 'string', default: 'pets' },
      quick: { type: 'boolean', default: false },
      measure: { type: 'string' },
      cases: { type: 'string' },
      contenders: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      floors: { type: 'boolean', default: false },
      'set-floors': { type: 'boolean', default: false },
      neighbour: { type: 'boolean', default: false },
      out: { type: 'string', default: 'results' },
    },
  });
  if (values.help) return undefined;
  const { quick } = values;
  const suite = suites[values.suite];
  if (suite === undefined)
    throw new Error(`--suite is ${values.suite}; it must be one of ${Object.keys(suites).join(', ')}.`);
  const all = namesOf(suite.contenders);
  const isPets = suite === suites['pets'];
  // Start, memory and floors are of the pet store's cases.
  if (!isPets && (values.floors || values['set-floors']))
    throw new Error('The floors are those of the suite pets.');
  const measurable: readonly MeasurementName[] = isPets ? measurements : ['throughput'];
  const seconds = positive('seconds', values.seconds, quick ? 0.25 : 2);
  return {
    suite,
    measurements: names(values.measure, measurable, quick ? ['throughput'] : measurable),
    cases: names(values.cases, namesOf(suite.cases)),
    contenders: names(values.contenders, all, quick && isPets ? quickContenders : all),
    rounds: positive('rounds', values.rounds, quick ? 7 : 5),
    seconds,
    // A shorter one compiles too little of a slow case.
    warmUpSeconds: Math.max(seconds, 1),
    attempts: quick ? 1 : 3,
    starts: quick ? 1 : 5,
    checkFloors: values.floors,
    setFloors: values['set-floors'],
    neighbour: values.neighbour,
    out: values.out,
  };
}

function names<Name extends string>(
  value: string | undefined,
  known: readonly Name[],
  standard: readonly Name[] = known,
): readonly Name[] {
  if (value === undefined) return standard;
  return value.split(',').map((text) => {
    const choice = known.find((name) => name === text.trim());
    if (choice === undefined)
      throw new Error(`"${text}" is not valid; it must be one of ${known.join(', ')}.`);
    return choice;
  });
}

function positive(name: string, option: string | undefined, standard: number): number {
  const value = option === undefined ? standard : Number(option);
  if (!(value > 0)) throw new Error(`--${name} is ${option}; it must be a number above 0.`);
  return value;
}
