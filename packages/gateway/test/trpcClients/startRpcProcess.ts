import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProcess } from '@petstore/testing/startProcess';
import type { Report } from './rpcProcess.ts';

export type Subject = 'official' | 'gateway';

/** A server in a separate process, so that memory and CPU time can be measured per server. */
export interface RpcProcess extends AsyncDisposable {
  readonly port: number;
  report(): Promise<Report>;
  /**
   * Returns the first report without running calls whose memory no longer shrinks, or the last one after 10 s: what
   * aborted calls have allocated is not freed by the first garbage collection. The next report could contain a call that
   * has just started: the server may read a request whose client has disconnected, and only later the end of the
   * connection.
   */
  reportWhenIdle(): Promise<Report>;
  /** The end of what the process has written to stderr. */
  stderr(): string;
  /** Why the process exited, unless `stop` ended it; `undefined` while it runs. */
  crash(): string | undefined;
  stop(): Promise<void>;
}

export async function startRpcProcess(subject: Subject): Promise<RpcProcess> {
  const script = `${import.meta.dirname}/rpcProcess.ts`;
  const args = ['--conditions=trpc-gateway-source', '--expose-gc', script, subject];
  const child = startProcess(process.execPath, args, {
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let stderrTail = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderrTail = (stderrTail + chunk.toString()).slice(-4000);
  });
  let crash: string | undefined;
  const exit = new Promise<never>((_, reject) => {
    child.once('exit', (code, signal) => {
      crash = `The server exited unexpectedly (${signal ?? code}): ${stderrTail}`;
      reject(new Error(crash));
    });
  });
  // Handled by `nextMessage`; without this handler an unawaited exit would be an unhandled rejection.
  exit.catch(() => {});
  const nextMessage = async <T>() => {
    const [message] = await Promise.race([once(child, 'message'), exit]);
    return message as T;
  };
  const port = await nextMessage<number>();
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    crash = undefined;
  };
  const report = () => {
    const next = nextMessage<Report>();
    child.send('report');
    return next;
  };
  return {
    port,
    report,
    reportWhenIdle: async () => {
      const end = performance.now() + 10_000;
      let last = await report();
      for (;;) {
        await sleep(100);
        const heapBefore = last.heap;
        last = await report();
        const isStill = last.liveCalls === 0 && Math.abs(last.heap - heapBefore) < 1_048_576;
        if (isStill || performance.now() > end) return last;
      }
    },
    stderr: () => stderrTail,
    crash: () => crash,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

export const megabytes = (bytes: number) => Math.round(bytes / 104_857.6) / 10;
