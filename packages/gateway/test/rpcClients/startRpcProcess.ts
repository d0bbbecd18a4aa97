import { once } from 'node:events';
import { startProcess } from '@petstore/testing/startProcess';
import type { Report } from './rpcProcess.ts';

export type Subject = 'official' | 'gateway';

/** A server in a process of its own, so that what is measured of it is its own. */
export interface RpcProcess extends AsyncDisposable {
  readonly port: number;
  report(): Promise<Report>;
  /** Why it ended, where it did: nobody told it to. */
  crash(): string | undefined;
  stop(): Promise<void>;
}

export async function startRpcProcess(subject: Subject): Promise<RpcProcess> {
  const script = `${import.meta.dirname}/rpcProcess.ts`;
  const args = ['--conditions=@petstore/source', '--expose-gc', script, subject];
  const child = startProcess(process.execPath, args, {
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let complaint = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(-4000);
  });
  let crash: string | undefined;
  const gone = new Promise<never>((_, reject) => {
    child.once('exit', (code, signal) => {
      crash = `The server ended by itself (${signal ?? code}): ${complaint}`;
      reject(new Error(crash));
    });
  });
  // It is looked at where something is waited for.
  gone.catch(() => {});
  const response = async <T>() => {
    const [message] = await Promise.race([once(child, 'message'), gone]);
    return message as T;
  };
  const port = await response<number>();
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    crash = undefined;
  };
  return {
    port,
    report: () => {
      const answered = response<Report>();
      child.send('report');
      return answered;
    },
    crash: () => crash,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

export const megabytes = (bytes: number) => Math.round(bytes / 104_857.6) / 10;
