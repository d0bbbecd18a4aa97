import { availableParallelism } from 'node:os';
import { type Case, cases } from '../cases.ts';
import { type ContenderProcess, startContender } from '../contenderProcess.ts';
import { contenders } from '../contenders.ts';
import { sendAtRate } from '../load/sendAtRate.ts';
import { measure } from '../measure.ts';
import { type Curve, type CurveOptions, measurePoints, type Point } from './curve.ts';

const sizes = [1, 2];

/** The load of a busy service, which one core serves with ease. */
const offered = 5_000;

/** The most that the busiest of several workers does of their work: the kernel deals connections out, not evenly. */
const mostOfOne = 0.9;

/** What more processes on one port cost, and gain, as `npm start` runs them: they share the embedded store. */
export async function workersCurve(options: CurveOptions): Promise<Curve> {
  const contender = contenders.find(({ name }) => name === 'server-embedded');
  if (contender === undefined) throw new Error('There is no contender with the embedded store.');
  const subjects = cases.filter(({ name }) => ['get', 'list20', 'create'].includes(name));
  const processes: ContenderProcess[] = [];
  try {
    const points: Point[] = [];
    for (const size of sizes) {
      const process = await startContender(contender, { workers: size });
      processes.push(process);
      for (const subject of subjects) {
        points.push({
          name: subject.title,
          size,
          measure: () => figures(process, size, subject, options.seconds),
        });
      }
      points.push({ name: 'a fixed rate', size, measure: () => fixedRate(process, options.seconds) });
    }
    for (const { measure: warmUp } of points) await warmUp();
    return {
      title: 'Workers on one port, embedded store',
      unit: 'requests a second by the clock, where a line has no unit of its own',
      points: await measurePoints(points, options),
      note: note(),
    };
  } finally {
    for (const process of processes) await process.stop();
  }
}

/** As many requests as are answered. @throws {Error} where but one of several workers served */
async function figures(
  process: ContenderProcess,
  size: number,
  subject: Case,
  seconds: number,
): Promise<Record<string, number>> {
  const before = await process.workerSeconds();
  const { rate, perCore } = await measure(process, subject, seconds);
  const after = await process.workerSeconds();
  const perRequest = { [subject.title]: rate, [`${subject.title}: µs of processor time`]: 1e6 / perCore };
  if (size === 1) return perRequest;
  const used = after.map((value, index) => value - (before[index] ?? 0));
  const part = Math.max(...used) / used.reduce((sum, value) => sum + value, 0);
  if (used.length !== size || part > mostOfOne)
    throw new Error(
      `Of ${size} workers, ${used.length} run, and one did ${(part * 100).toFixed(0)}% of the work.`,
    );
  return { ...perRequest, [`${subject.title}: % of the work that the busier worker did`]: part * 100 };
}

/** As many requests as are offered, which either can answer: what is left of the difference is the workers' own cost. */
async function fixedRate(process: ContenderProcess, seconds: number): Promise<Record<string, number>> {
  const subject = cases.find(({ name }) => name === 'get');
  if (subject?.kind !== 'http') throw new Error('There is no case of one GET.');
  const before = await process.processorSeconds();
  const { p50, p99 } = await sendAtRate(process.port, subject.request, { rate: offered, seconds });
  const used = (await process.processorSeconds()) - before;
  const line = `${subject.title} at ${offered.toLocaleString('en-US')} a second`;
  return {
    [`${line}: µs of processor time`]: (used * 1e6) / (offered * seconds),
    [`${line}: p50, ms`]: p50,
    [`${line}: p99, ms`]: p99,
  };
}

/** What this machine's figures can say. */
export function note(cores = availableParallelism()): string {
  const used = 'Processor time is what all processes of the server used together, for each request.';
  const most = Math.max(...sizes);
  return cores > most
    ? `${used} The load has one of ${cores} cores to itself and the server the others: wall-clock time shows what workers gain, up to what the load generator can send.`
    : `${used} The load runs on one of ${cores} cores, and a second worker has only what it leaves of that: wall-clock time shows a lower bound of what a worker gains, and p50 and p99 include waits for the load generator. The full gain needs ${most + 1} cores.`;
}
