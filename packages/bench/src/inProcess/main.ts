/*
 * `npm run bench:in-process [-- --floors]`: what needs no load over sockets, by processor time, beside tRPC's own adapter. `--floors`
 * fails where a ratio is below packages/bench/floors.json.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readFloors } from '../floors.ts';
import { median } from '../throughput.ts';

interface Compared {
  readonly title: string;
  readonly unit: string;
  readonly ours: number;
  readonly peer: number;
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
async function perProcedure(who: 'gateway' | 'trpc'): Promise<number> {
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

/** Measures both at once, by processor time: what disturbs one disturbs the other. */
async function both(measure: (who: 'gateway' | 'trpc') => Promise<number>) {
  const [ours, peer] = await Promise.all([measure('gateway'), measure('trpc')]);
  return { ours, peer };
}

const results: Readonly<Record<string, Compared>> = {
  start: { title: 'start, each of 1,000 procedures', unit: 'ms', ...(await both(perProcedure)) },
  events: {
    title: 'event, each of 200 subscribers, node:http',
    unit: 'µs',
    ...(await both(async (who) => Number(await run('events.ts', who)))),
  },
};
const floors = (await readFloors())['in-process'] ?? {};
for (const [name, { ours, peer, title, unit }] of Object.entries(results)) {
  const ratio = peer / ours;
  const floor = floors[name];
  if (floor === undefined) throw new Error(`floors.json has no floor of ${name}.`);
  process.stdout.write(
    `${title}: ${ours.toFixed(2)} ${unit}, tRPC ${peer.toFixed(2)} ${unit}, ratio ${ratio.toFixed(2)}\n`,
  );
  if (process.argv.includes('--floors') && !(ratio >= floor)) {
    process.stderr.write(`${name}: ${ratio.toFixed(2)} times tRPC, below the floor of ${floor}.\n`);
    process.exitCode = 1;
  }
}
