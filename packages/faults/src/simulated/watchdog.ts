import { Worker } from 'node:worker_threads';

/** How long a history may take by the clock of the machine, in milliseconds. */
const longestMs = 60_000;

/** Runs in a thread of its own, which goes on where the histories hang in a loop. */
const program = `
const { workerData: [shared, longestMs] } = require('node:worker_threads');
let count, since;
setInterval(() => {
  if (count !== shared[1]) [count, since] = [shared[1], Date.now()];
  if (Date.now() - since < longestMs) return;
  require('node:fs').writeSync(1, 'The history of seed ' + shared[0] + ' does not end: it hangs in a loop.\\n');
  process.kill(process.pid, 'SIGKILL');
}, 1000);`;

/** Ends the process if a history hangs, and names it. @returns what to call before each, with its seed */
export function watchHistories(): (seed: number) => void {
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(program, { eval: true, workerData: [shared, longestMs] });
  worker.unref();
  return (seed) => {
    shared[0] = seed;
    shared[1] = (shared[1] ?? 0) + 1;
  };
}
