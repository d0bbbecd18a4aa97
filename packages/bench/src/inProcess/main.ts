/*
 * `npm run bench:in-process [-- --floors]`: what needs no load over sockets, by processor time, beside tRPC's own adapters. `--floors`
 * fails where a ratio is below packages/bench/floors.json.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readFloors } from '../floors.ts';
import { median } from '../throughput.ts';

type Contender = 'gateway' | 'trpc';

interface Case {
  readonly title: string;
  readonly unit: string;
  readonly measure: (who: Contender) => Promise<number>;
}

async function run(file: string, ...args: readonly string[]): Promise<string> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--conditions=trpc-gateway-source',
    path,
    ...args,
  ]);
  return stdout;
}

/** How much processor time each procedure adds to the start of a server, from 100 to 1,000 of them, in milliseconds. */
async function perProcedure(who: Contender): Promise<number> {
  const slopes: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const [few, many] = [
      Number(await run('start.ts', who, '100')),
      Number(await run('start.ts', who, '1000')),
    ];
    slopes.push((many - few) / 900);
  }
  return median(slopes);
}

/** Measures both at once, by processor time: what disturbs one disturbs the other. @returns how many times tRPC takes */
async function compare({ measure, title, unit }: Case): Promise<number> {
  const [ours, peer] = await Promise.all([measure('gateway'), measure('trpc')]);
  const ratio = peer / ours;
  process.stdout.write(
    `${title}: ${ours.toFixed(2)} ${unit}, tRPC ${peer.toFixed(2)} ${unit}, ratio ${ratio.toFixed(2)}\n`,
  );
  return ratio;
}

const routeHandler = (title: string, count: number): Case => ({
  title: `route handler of Next, ${title}`,
  unit: 'µs',
  measure: async (who) => Number(await run('routeHandler.ts', who, String(count))),
});

const cases: Readonly<Record<string, Case>> = {
  start: { title: 'start, each of 1,000 procedures', unit: 'ms', measure: perProcedure },
  events: {
    title: 'event, each of 200 subscribers, node:http',
    unit: 'µs',
    measure: async (who) => Number(await run('events.ts', who)),
  },
  query: routeHandler('a query', 1),
  batch10: routeHandler('a batch of 10', 10),
};
const floors = (await readFloors())['in-process'] ?? {};
for (const [name, each] of Object.entries(cases)) {
  const floor = floors[name];
  if (floor === undefined) throw new Error(`floors.json has no floor of ${name}.`);
  let ratio = await compare(each);
  if (!process.argv.includes('--floors') || ratio >= floor) continue;
  // Again, as `npm run bench` does.
  ratio = await compare(each);
  if (ratio >= floor) continue;
  process.stderr.write(`${name}: ${ratio.toFixed(2)} times tRPC, below the floor of ${floor}.\n`);
  process.exitCode = 1;
}
