// Replaces clock, timers and randomness. Import it before product code, which may read a global once.
import * as FakeTimers from '@sinonjs/fake-timers';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import timersPromises from 'node:timers/promises';
import { Random } from '@petstore/testing/random';
import { runIn, runningProcess, type SimulatedProcess } from './simulatedProcess.ts';

/** When each history begins. */
const epoch = Date.UTC(2026, 0, 1);

const { setImmediate: nextTurn } = globalThis;

export const clock = FakeTimers.install({
  now: epoch,
  // Everything by which the product reads the time or waits.
  toFake: [
    'setTimeout',
    'clearTimeout',
    'setInterval',
    'clearInterval',
    'setImmediate',
    'clearImmediate',
    'Date',
    'performance',
  ],
});

/** The processes of timers, by what these call. */
const owners = new WeakMap<object, SimulatedProcess>();

/** Returns what a timer calls: nothing, if its process has been killed. */
function owned<Args extends unknown[]>(callback: (...args: Args) => void): (...args: Args) => void {
  const process = runningProcess();
  if (process === undefined) return callback;
  const call = (...args: Args) => void (process.isAlive && runIn(process, () => callback(...args)));
  owners.set(call, process);
  return call;
}

export const processesWithTimers = (): ReadonlySet<SimulatedProcess | undefined> =>
  new Set(Array.from(clock.timers?.values() ?? [], ({ func }) => owners.get(func)));

const timers = { ...globalThis };
Object.assign(globalThis, {
  setTimeout: (callback: () => void, ms?: number, ...args: []) =>
    timers.setTimeout(owned(callback), ms, ...args),
  setImmediate: (callback: () => void, ...args: []) => timers.setImmediate(owned(callback), ...args),
  setInterval(callback: () => void, ms?: number) {
    const process = runningProcess();
    const timer = timers.setInterval(
      owned(() => callback()),
      ms,
    );
    process?.whenKilled(() => timers.clearInterval(timer));
    return timer;
  },
});
Object.assign(timersPromises, {
  setTimeout: (ms?: number, value?: unknown, { signal }: { readonly signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      const abort = () => reject(new DOMException('The operation was aborted', 'AbortError'));
      if (signal?.aborted) return abort();
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve(value);
      }, ms);
      const onAbort = () => {
        clearTimeout(timer);
        abort();
      };
      signal?.addEventListener('abort', onAbort, { once: true });
    }),
});

let random = new Random(0);

/** Lets a history begin: all that is random is of its seed, no timer is left, and it is the same time of day. */
export function beginHistory(seed: number): void {
  random = new Random(seed);
  // Gateways serve more than one history. Set back, this time would keep them from states that were away in an earlier one.
  const passed = Math.ceil(performance.now());
  clock.reset();
  clock.tick(passed);
  clock.setSystemTime(epoch);
}

/** Of ids whose number depends on earlier histories, such as the prefix of 10,000 request ids. No client sees one. */
const unseen = new Random(0);

const bytes = (length: number, from = random): Buffer =>
  Buffer.from(Uint8Array.from({ length }, () => from.below(256)));

function uuid(from = random): `${string}-${string}-${string}-${string}-${string}` {
  const hex = bytes(16, from).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}

Object.assign(crypto, {
  randomBytes: (length: number) => bytes(length),
  randomInt: (least: number, below?: number) =>
    below === undefined ? random.below(least) : random.from(least, below - 1),
  randomUUID: () => uuid(),
});
Object.assign(globalThis.crypto, {
  randomUUID: () => uuid(unseen),
  getRandomValues: (array: Uint8Array) => (array.set(bytes(array.length, unseen)), array),
});
// The pool of threads would take real time.
Object.defineProperty(crypto.webcrypto.subtle, 'digest', {
  value: async (algorithm: string, data: Uint8Array) => {
    const { buffer, byteLength, byteOffset } = crypto.hash(algorithm.replace('-', ''), data, 'buffer');
    return buffer.slice(byteOffset, byteOffset + byteLength);
  },
});
Math.random = () => random.next();
// Faults are what the product warns of.
Object.assign(console, { error() {}, warn() {} });
// A turn of the event loop takes no time.
process.cpuUsage = () => ({ user: 0, system: 0 });
// `import { setTimeout } from 'node:timers/promises'` is a copy of what has just been replaced.
syncBuiltinESMExports();

/** How many timers run in a turn of the event loop, which takes as long as some of them. */
const timersPerTurn = 100;

/**
 * Lets time pass, timer by timer, until a condition holds or nothing is left that would happen. Between two, all that can run without time passing does.
 * @param longestMs how much time at most, in milliseconds
 */
export function passTime(isDone: () => boolean, longestMs: number): Promise<void> {
  const until = performance.now() + longestMs;
  return new Promise((resolve) => {
    let isOver = false;
    const step = () => {
      if (isOver) return;
      isOver = isDone() || clock.countTimers() === 0 || performance.now() >= until;
      if (isOver) resolve();
      else clock.next();
    };
    // Node runs what promises have to do between two of them.
    const turn = () => {
      for (let at = 0; at < timersPerTurn; at += 1) nextTurn(step);
      if (!isOver) nextTurn(turn);
    };
    nextTurn(turn);
  });
}
