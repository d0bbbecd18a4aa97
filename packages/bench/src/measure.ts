import type { Case } from './cases.ts';
import type { ContenderProcess } from './contenderProcess.ts';
import { coreTimes } from './foreignLoad.ts';
import { wrk } from './load/wrk.ts';

/** How many connections ask at once. */
const connections = 64;

/** One measurement of one case. */
export interface Measurement {
  /** Requests a second, by the clock. */
  readonly rate: number;
  /**
   * Requests a second of processor time: what the server's core does when it has nothing else to do. It is the rate by the
   * clock where server and core are at their limit. Where other programs run on the machine, or wrk is slower than the
   * server, that rate says more about those.
   */
  readonly perCore: number;
  /** The part of the time that the server had the processor: where it is far from 1, something else was the limit. */
  readonly busy: number;
  /** The processor time of other programs on the two cores meanwhile, as a part of one core. */
  readonly foreign: number;
}

/** A contender without a response after this time counts as stuck. */
const longestSeconds = 30;

/** Loads a contender with a case for some seconds. */
export async function measure(
  contender: Pick<ContenderProcess, 'port' | 'processorSeconds'>,
  subject: Case,
  seconds: number,
): Promise<Measurement> {
  const timesBefore = await coreTimes();
  const before = await contender.processorSeconds();
  const load = await wrk({
    port: contender.port,
    requests: subject.requests.map(({ request }) => request),
    connections: subject.connections ?? connections,
    seconds,
  });
  const used = (await contender.processorSeconds()) - before;
  const times = await coreTimes();
  const others = times.used - timesBefore.used - (times.own - timesBefore.own) - used;
  // On a busy machine, or with long responses, a short run may end before the first.
  if (load.requests === 0) {
    if (seconds > longestSeconds) throw new Error(`${subject.title}: no response within ${seconds} s.`);
    return measure(contender, subject, seconds * 4);
  }
  return {
    rate: load.requests / load.seconds,
    perCore: load.requests / used,
    busy: used / load.seconds,
    foreign: Math.max(others, 0) / load.seconds,
  };
}

/** The requests after which a contender is warm: V8 compiles by how often code has run. */
const warmRequests = 20_000;

/** The maximum number of runs to warm up: a slow case reaches `warmRequests` late, or not at all. */
const warmUpRuns = 16;

/**
 * Loads a contender until it has answered `warmRequests` and used most of that processor time. Where other programs run, both
 * take longer.
 */
export async function warmUp(
  contender: Pick<ContenderProcess, 'port' | 'processorSeconds'>,
  subject: Case,
  seconds: number,
): Promise<void> {
  let used = 0;
  let requests = 0;
  for (let run = 0; run < warmUpRuns && (used < seconds * 0.7 || requests < warmRequests); run++) {
    const { busy, rate } = await measure(contender, subject, seconds);
    used += busy * seconds;
    requests += rate * seconds;
  }
}

/** More than this of one core for other programs: the measurement is repeated. */
export const foreignLimit = 0.1;

/** Measures again while other programs disturb it, and returns the measurement that was disturbed least. */
export async function leastDisturbed(
  attempts: number,
  measureOnce: () => Promise<Measurement>,
): Promise<Measurement> {
  let best = await measureOnce();
  for (let attempt = 1; attempt < attempts && best.foreign > foreignLimit; attempt++) {
    const again = await measureOnce();
    if (again.foreign < best.foreign) best = again;
  }
  return best;
}
