import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { countArgument } from '@petstore/testing/countArgument';
import { listening, run } from '../petStoreProcess.ts';
import { type DiskFault, type DiskFaultRound, diskFaultRound, diskFaults } from './diskFaultRound.ts';

// Tests faults of the disk and the data folder under load in many rounds, on the bundle of `npm start`. Needs strace.
// Usage: diskFaultTest.ts [rounds]
const rounds = countArgument('rounds', process.argv[2], 50);
const entry = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
const apiKey = 'a-key-for-the-tests-0123456789';

async function round(fault: DiskFault): Promise<DiskFaultRound> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-disk-'));
  const dataDir = join(folder, 'data');
  const started = run({ entry, env: { DATA_DIR: dataDir, PORT: '0', API_KEY: apiKey } });
  try {
    return await diskFaultRound(fault, await listening(started), apiKey, dataDir);
  } finally {
    started.child.kill('SIGKILL');
    await started.exited;
    await rm(folder, { recursive: true, force: true });
  }
}

const roundsByHit = new Map<DiskFaultRound['hit'], DiskFaultRound[]>();
function show(): void {
  for (const [hit, all] of roundsByHit) {
    const sum = (of: (each: DiskFaultRound) => number) => all.reduce((total, each) => total + of(each), 0);
    const most = (of: (each: DiskFaultRound) => number) => Math.round(Math.max(...all.map(of)));
    const faults = all.flatMap((each) => each.faults);
    const exits = Object.entries(Object.groupBy(all, ({ exit }) => exit));
    process.stdout.write(
      `${hit}, ${all.length} rounds: ${faults.length === 0 ? 'met' : `MISSED ${JSON.stringify(faults)}`}\n` +
        `  acknowledged ${sum((each) => each.acknowledged)}, gone ${sum((each) => each.lost)}, not ready after ${most((each) => each.notReadyMs ?? 0)} ms at most, stop ${most((each) => each.stopMs)} ms at most; ended by ${exits.map(([exit, of]) => `${exit} ${of?.length}`).join(', ')}\n`,
    );
  }
}

for (const fault of diskFaults) {
  // The kind of page is random: runs until each kind was hit often enough.
  const hits =
    fault === 'EIO of a page' ? (['EIO of a data page', 'EIO of a meta page'] as const) : ([fault] as const);
  const isEnough = () => hits.every((hit) => (roundsByHit.get(hit)?.length ?? 0) >= rounds);
  for (let count = 0; !isEnough() && count < rounds * 10; count += 1) {
    const done = await round(fault);
    roundsByHit.set(done.hit, [...(roundsByHit.get(done.hit) ?? []), done]);
    if (process.stderr.isTTY) process.stderr.write(`\r${fault}: ${count + 1} rounds`);
  }
}
show();
process.exitCode = [...roundsByHit.values()].flat().some(({ faults }) => faults.length > 0) ? 1 : 0;
