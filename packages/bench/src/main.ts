import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { Case } from './cases.ts';
import { type BenchOptions, help, quickContenders, readCommandLine } from './commandLine.ts';
import { startContender } from './contenderProcess.ts';
import { caseOf, type Contender, UnavailableError } from './contenders.ts';
import { checkCores } from './cores.ts';
import { misses, readFloors } from './floors.ts';
import { checkWrk } from './load/wrk.ts';
import { markdown } from './report/markdown.ts';
import type { Report } from './report/report.ts';
import { svg } from './report/svg.ts';
import { limit, type Result, type Runner, throughput } from './throughput.ts';
import { differences } from './verify.ts';

const print = (text: string) => void process.stdout.write(`${text}\n`);
const progress = (text: string) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${text.slice(0, 100)}`);
};
const progressDone = () => progress('');

/** The contender with resolvers that are not sync, which the picture leaves out. */
const variant = 'gateway-middleware';

/** Where the report goes. */
const folder = 'results';

// What was started ends with the bench, however that ends.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

try {
  const options = readCommandLine(process.argv.slice(2));
  if (options === undefined) process.stdout.write(help);
  else {
    checkCores();
    await checkWrk();
    await runBench(options);
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  // Not `exitCode`: a contender that was being started would keep the process.
  process.exit(1);
}

async function runBench(options: BenchOptions): Promise<void> {
  const { cases, contenders: all } = options.suite;
  const chosen = cases.filter(({ name }) => options.cases.includes(name));
  const results: Result[] = [];
  for (const [index, group] of groupsOf(options.contenders).entries()) {
    const measured = await measureGroup(group, chosen, options);
    // `minimal` is in each group, so that ratios are formed within it, and in the report once.
    results.push(...measured.filter(({ contender }) => index === 0 || contender !== limit));
  }
  const rows = all.map(({ name }) => name);
  results.sort((a, b) => rows.indexOf(a.contender) - rows.indexOf(b.contender));
  progressDone();

  const report: Report = {
    at: new Date().toISOString(),
    command: ['npm run bench --', ...process.argv.slice(2)].join(' '),
    machine: { processor: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version },
    rounds: options.rounds,
    seconds: options.seconds,
    titles: {
      cases: Object.fromEntries(cases.map(({ name, title }) => [name, title])),
      contenders: Object.fromEntries(all.map(({ name, title }) => [name, title])),
    },
    results,
  };
  const text = markdown(report);
  print(text);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'bench.json'), `${JSON.stringify(report, undefined, 2)}\n`);
  await writeFile(join(folder, 'bench.md'), `${text}\n`);
  const pictured = results.filter(({ contender }) => contender !== variant);
  if (pictured.length > 0) await writeFile(join(folder, 'bench.svg'), svg({ ...report, results: pictured }));
  if (options.checkFloors) await checkFloors(results);
}

/**
 * Divides contenders into groups of at most four that run at the same time, each with `minimal`: in one run, thirteen
 * servers shared the processor's caches, and those on Node cost up to twice as much. The first group is that of a quick
 * run, which the floors need.
 */
function groupsOf(names: readonly string[]): readonly (readonly string[])[] {
  const others = names
    .filter((name) => name !== limit)
    .toSorted((a, b) => Number(quickContenders.includes(b)) - Number(quickContenders.includes(a)));
  const first = names.includes(limit) ? [limit] : [];
  const size = 4 - first.length;
  const groups = [[...first, ...others.slice(0, size)]];
  for (let at = size; at < others.length; at += size) groups.push([...first, ...others.slice(at, at + size)]);
  return groups;
}

async function measureGroup(group: readonly string[], chosen: readonly Case[], options: BenchOptions) {
  const runners = await startAll(
    options.suite.contenders.filter(({ name }) => group.includes(name)),
    chosen,
  );
  try {
    const results = await throughput(runners, chosen, { ...options, onProgress: progress });
    return options.checkFloors ? await secondTry(results, runners, chosen, options) : results;
  } finally {
    for (const runner of runners) await runner.process.stop();
  }
}

/** Starts contenders. One that cannot start is left out; where one responds differently, nothing is measured. */
async function startAll(named: readonly Contender[], chosen: readonly Case[]) {
  const runners: Runner[] = [];
  const wrong: string[] = [];
  for (const contender of named) {
    progress(`starting ${contender.name}`);
    try {
      runners.push({ contender, process: await startContender(contender) });
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      progressDone();
      process.stderr.write(`SKIPPED: ${contender.title}: ${error.message}.\n`);
    }
  }
  for (const { contender, process: server } of runners) {
    for (const subject of chosen) {
      const own = caseOf(contender, subject);
      if (own === undefined) continue;
      for (const difference of await differences(server.port, own, contender.headers)) {
        wrong.push(`${contender.name}, ${subject.name}: ${difference}`);
      }
    }
  }
  progressDone();
  await requireSamePrograms(runners);
  if (wrong.length > 0)
    throw new Error(`The contenders' responses differ, so nothing is compared:\n${wrong.join('\n')}`);
  print(`${runners.length} contenders answer ${chosen.length} cases alike.\n`);
  return runners;
}

/** Contenders on one host must run on the same build of it. @throws {Error} names the builds */
async function requireSamePrograms(runners: readonly Runner[]): Promise<void> {
  const firsts = new Map<string, string>();
  for (const { contender, process: server } of runners) {
    for (const [host, program] of await server.programs()) {
      const first = firsts.get(host) ?? `${program} (${contender.name})`;
      firsts.set(host, first);
      if (!first.startsWith(`${program} (`))
        throw new Error(
          `The contenders on ${host} run on different builds: ${first}, ${program} (${contender.name}).`,
        );
    }
  }
}

/** Measures once more what is below its floor: a rough run is no reason to fail. */
async function secondTry(
  results: readonly Result[],
  runners: readonly Runner[],
  chosen: readonly Case[],
  options: BenchOptions,
): Promise<readonly Result[]> {
  const missed = misses(results, await readFloors()).map(({ result }) => result);
  if (missed.length === 0) return results;
  progressDone();
  print(`Below the floor, measured once more: ${missed.map((miss) => miss.case).join(', ')}.\n`);
  const again = await throughput(
    runners,
    chosen.filter(({ name }) => missed.some((miss) => miss.case === name)),
    { ...options, onProgress: progress },
  );
  return results.map(
    (result) =>
      again.find(
        (each) => each.case === result.case && each.contender === result.contender && missed.includes(result),
      ) ?? result,
  );
}

async function checkFloors(results: readonly Result[]): Promise<void> {
  const below = misses(results, await readFloors());
  if (below.length === 0) return print('\nEvery ratio is above its floor.');
  throw new Error(
    below
      .map(
        ({ result, floor }) =>
          `${result.contender}, ${result.case}: ${result.peerRatio?.toFixed(2)} times its peer, below the floor of ${floor}.`,
      )
      .join('\n'),
  );
}
