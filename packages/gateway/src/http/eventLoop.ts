/** What Node, Bun and Deno have besides the web's own globals. */
interface Runtime {
  readonly setImmediate?: (task: () => void) => unknown;
  readonly process?: { nextTick?(task: () => void): void };
}

const { process, setImmediate } = globalThis as unknown as Runtime;

/** Runs a task in the next turn of the event loop. A timer, where there is nothing else, may take some milliseconds. */
export const nextTurn: (task: () => void) => unknown =
  setImmediate ?? ((task: () => void) => setTimeout(task, 0));

/** Runs a task once the callbacks of all promises that are settled now have run, and of those that they settle. */
export const afterPromises: (task: () => void) => void = process?.nextTick
  ? // A tick alone would come before them, in the turn of uWebSockets.js.
    (task) => queueMicrotask(() => process.nextTick?.(task))
  : nextTurn;

export type Timer = ReturnType<typeof setTimeout>;

/** Lets the process end before a timer fires. On the web a timer is a number, and keeps nothing. */
export function unref(timer: Timer): Timer {
  (timer as Partial<Timer>).unref?.();
  return timer;
}
