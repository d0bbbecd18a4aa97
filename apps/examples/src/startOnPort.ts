import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProcess } from '@petstore/testing/startProcess';

/** Starts a server on a port. Resolves with a function that stops it. */
export type Start = (port: number) => Promise<() => Promise<unknown>>;

interface Server {
  close(): Promise<void>;
}

/** Returns a `Start` of a server that has a `close`. */
export const asServer =
  (start: (port: number) => Promise<Server> | Server): Start =>
  async (port) => {
    const server = await start(port);
    return () => server.close();
  };

/** Starts a program that serves on `PORT`, and waits until the port accepts connections. @returns a function that ends it */
export async function startOnPort(
  port: number,
  [file = '', ...args]: readonly string[],
  cwd?: string,
): Promise<(signal: NodeJS.Signals) => Promise<unknown>> {
  const child = startProcess(file, args, {
    cwd,
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'close');
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
  while (!(await isOpen(port))) {
    if (child.exitCode !== null) throw new Error(`${args.at(-1)} ended: ${errors}`);
    await sleep(20);
  }
  return (signal) => {
    child.kill(signal);
    return ended;
  };
}

const isOpen = (port: number) =>
  fetch(`http://127.0.0.1:${port}/`).then(
    async (response) => {
      await response.body?.cancel();
      return true;
    },
    () => false,
  );
