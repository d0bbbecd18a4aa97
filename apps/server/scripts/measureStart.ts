import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '@petstore/testing/freePort';

// How long `npm start`'s process takes from its start to its first answers, and what memory it holds when idle.
const starts = 10;
const goals = { responseMs: 300, idleMb: 80 };
const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const apiKey = 'a-key-to-measure-with';

interface Measured {
  readonly readyMs: number;
  readonly petsMs: number;
  readonly idleMb: number;
}

/** Asks until the answer is 200. */
async function answered(child: ChildProcess, url: string): Promise<void> {
  for (;;) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } }).catch(
      () => undefined,
    );
    await response?.arrayBuffer();
    if (response?.status === 200) return;
    if (child.exitCode !== null) throw new Error(`The process ended with code ${child.exitCode}.`);
    await sleep(1);
  }
}

/** Resident memory in MB (10⁶ bytes), read where Linux has it. */
async function residentMb(child: ChildProcess): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return (Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1]) * 1024) / 1e6;
}

async function measure(): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-start-'));
  const port = await freePort();
  const since = performance.now();
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      // `0` shows what measuring costs.
      ADMIN_PORT: process.env.ADMIN_PORT,
      DATA_DIR: join(folder, 'data'),
      API_KEY: apiKey,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    await answered(child, `http://127.0.0.1:${port}/readyz`);
    const readyMs = performance.now() - since;
    await answered(child, `http://127.0.0.1:${port}/v1/pets`);
    const petsMs = performance.now() - since;
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

const measured: Measured[] = [];
for (let start = 0; start < starts; start++) measured.push(await measure());
process.stdout.write(`Node ${process.version}; medians of ${starts} starts on a new store (least to most)\n`);
report(
  'start to 200 from /readyz',
  measured.map(({ readyMs }) => readyMs),
  'ms',
  goals.responseMs,
);
report(
  'start to 200 from GET /v1/pets',
  measured.map(({ petsMs }) => petsMs),
  'ms',
  goals.responseMs,
);
report(
  'resident memory, idle for 1 s',
  measured.map(({ idleMb }) => idleMb),
  'MB',
  goals.idleMb,
);
