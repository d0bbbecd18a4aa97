import type { ChildProcess } from 'node:child_process';

/** Returns the next message of a process that was forked. @throws if it ends before */
export function nextMessage(child: ChildProcess): Promise<unknown> {
  const { promise, reject, resolve } = Promise.withResolvers<unknown>();
  const onEnd = () => reject(new Error(`The process ${child.spawnargs.join(' ')} ended before its message.`));
  if (!child.connected) onEnd();
  // After the messages that were sent before, unlike `exit`.
  child.once('message', resolve).once('disconnect', onEnd);
  return promise.finally(() => child.off('message', resolve).off('disconnect', onEnd));
}
