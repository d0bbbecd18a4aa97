import type { EventLog } from '../eventLog.ts';

/** A log that a process cannot reach while it is cut: as with Redis, readers wait, and what is sent meanwhile is sent later. */
export function cutLog(log: EventLog) {
  let reachable = Promise.resolve();
  const cut: EventLog = {
    ...log,
    append: (...args) => reachable.then(() => log.append(...args)),
    async *read(channel, after, signal) {
      const left = new Promise((resolve) => signal.addEventListener('abort', resolve));
      await Promise.race([reachable, left]);
      for await (const item of log.read(channel, after, signal)) {
        await Promise.race([reachable, left]);
        yield item;
      }
    },
  };
  return {
    log: cut,
    /** Cuts it. @returns the function that restores it */
    cut: (): (() => void) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      reachable = promise;
      return resolve;
    },
  };
}
