/** Globals of Node, Bun and Deno that the web does not have. */
interface Runtime {
  readonly setImmediate?: (task: () => void) => unknown;
  readonly process?: {
    nextTick?(task: () => void): void;
    cpuUsage?(): { readonly user: number; readonly system: number };
  };
}

const { process, setImmediate } = globalThis as unknown as Runtime;

/** The global `performance`, read once: in Node the global is a getter, and each read of it costs 50 ns. */
export const { performance } = globalThis;

/** Returns the processor time of the process in milliseconds; on the web, the time. It takes 1 µs. */
export function cpuMs(): number {
  const usage = process?.cpuUsage?.();
  return usage === undefined ? performance.now() : (usage.user + usage.system) / 1000;
}

/** Runs a task in the next turn of the event loop. Without `setImmediate`, a timer does, which may take some milliseconds. */
export const nextTurn: (task: () => void) => unknown =
  setImmediate ?? ((task: () => void) => setTimeout(task, 0));

/** Runs a task after the callbacks of all settled promises, including promises that these callbacks settle. */
export const afterPromises: (task: () => void) => void = process?.nextTick
  ? // Within a handler of uWebSockets.js, a tick alone would run before these callbacks.
    (task) => queueMicrotask(() => process.nextTick?.(task))
  : nextTurn;

/** The longest delay of `setTimeout`, in milliseconds. A longer one would fire immediately. */
export const longestTimer = 2 ** 31 - 1;

export type Timer = ReturnType<typeof setTimeout>;

/** Lets the process exit before a timer fires. On the web, a timer is a number and this does nothing. */
export function unref(timer: Timer): Timer {
  (timer as Partial<Timer>).unref?.();
  return timer;
}
