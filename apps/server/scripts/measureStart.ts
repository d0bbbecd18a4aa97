import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '@petstore/testing/freePort';

// Measures the time from the start of the process of `npm start` to its first responses, and its idle memory.
const starts = 10;
const goals = { responseMs: 300, idleMb: 80 };
const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const measurementApiKey = 'a-key-to-measure-with';

interface StartMeasurement {
  readonly readyMs: number;
  readonly petsMs: number;
  readonly idleMb: number;
}

/** Sends requests until the status is 200. */
async function waitForOk(child: ChildProcess, url: string): Promise<void> {
  for (;;) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${measurementApiKey}` } }).catch(
      () => undefined,
    );
    await response?.arrayBuffer();
    if (response?.status === 200) return;
    if (child.exitCode !== null) throw new Error(`The process ended with code ${child.exitCode}.`);
    await sleep(1);
  }
}

/** Returns the resident memory in MB (10⁶ bytes). Linux only. */
async function residentMb(child: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return (Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1]) * 1024) / 1e6;
}

async function measureStart(): Promise<StartMeasurement> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-start-'));
  const port = await freePort();
  const startedAt = performance.now();
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      // Set it to `0` to include the cost of metrics.
      ADMIN_PORT: process.env.ADMIN_PORT,
      DATA_DIR: join(folder, 'data'),
      API_KEY: measurementApiKey,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    await waitForOk(child, `http://127.0.0.1:${port}/readyz`);
    const readyMs = performance.now() - startedAt;
    await waitForOk(child, `http://127.0.0.1:${port}/v1/pets`);
    const petsMs = performance.now() - startedAt;
    await sleep(1_000);
    return { readyMs, petsMs, idleMb: await residentMb(child) };
  } finally {
    child.kill('SIGTERM');
    await once(child, 'exit');
    await rm(folder, { recursive: true, force: true });
  }
}

function report(what: string, values: readonly number[], unit: string, goal: number): void {
  const sorted = values.toSorted((a, b) => a - b);
  const median = ((sorted[(sorted.length - 1) >> 1] ?? NaN) + (sorted[sorted.length >> 1] ?? NaN)) / 2;
  const spread = `${sorted[0]?.toFixed(0)} to ${sorted.at(-1)?.toFixed(0)}`;
  const verdict = median <= goal ? 'met' : 'MISSED';
  process.stdout.write(
    `${what}: ${median.toFixed(0)} ${unit} (${spread}); goal ≤ ${goal} ${unit}: ${verdict}\n`,
  );
}

const measurements: StartMeasurement[] = [];
for (let start = 0; start < starts; start++) measurements.push(await measureStart());
process.stdout.write(`Node ${process.version}; medians of ${starts} starts on a new store (least to most)\n`);
report(
  'start to 200 from /readyz',
  measurements.map(({ readyMs }) => readyMs),
  'ms',
  goals.responseMs,
);
report(
  'start to 200 from GET /v1/pets',
  measurements.map(({ petsMs }) => petsMs),
  'ms',
  goals.responseMs,
);
report(
  'resident memory, idle for 1 s',
  measurements.map(({ idleMb }) => idleMb),
  'MB',
  goals.idleMb,
);
