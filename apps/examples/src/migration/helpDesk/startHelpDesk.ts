import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '@petstore/testing/freePort';
import { startProcess } from '@petstore/testing/startProcess';

export interface HelpDesk {
  readonly origin: string;
  /** Ends the process. Its port is free again when the promise resolves. */
  readonly stop: () => Promise<unknown>;
}

/**
 * Starts the help desk in a process of its own, with its first rows: trpc-to-openapi changes the schemas of the router
 * that it serves, so each server needs its own.
 */
export async function startHelpDesk(
  server: 'onTrpcToOpenApi' | 'onGateway',
  port?: number,
): Promise<HelpDesk> {
  port ??= await freePort();
  const file = fileURLToPath(new URL(`${server}.ts`, import.meta.url));
  const child = startProcess(process.execPath, ['--conditions=trpc-gateway-source', file], {
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const origin = `http://127.0.0.1:${port}`;
  while (!(await fetch(origin).catch(() => undefined))) {
    if (child.exitCode !== null) throw new Error(`${server} ended: ${errors}`);
    await sleep(20);
  }
  return {
    origin,
    stop() {
      child.kill('SIGKILL');
      return ended;
    },
  };
}
