import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort } from '@petstore/testing/freePort';
import { startProcess } from '@petstore/testing/startProcess';
import type { Call } from 'trpc-gateway-test/clients';
import type { OpenApiDocument } from 'trpc-gateway-test';
import { samplesOf } from './router.ts';

/** What `main.ts` prints when it listens. */
interface Started {
  readonly procedures: number;
  /** From the call of `createGateway` until the port is open. */
  readonly startMs: number;
  /** The processor time of the whole process until then, imports included. */
  readonly cpuMs: number;
}

export interface WholeRouter {
  readonly origin: string;
  readonly started: Started;
  /** Ends the process. */
  readonly stop: () => Promise<void>;
}

/** Starts the router of 600 procedures in a process of its own. */
export async function startWholeRouter(): Promise<WholeRouter> {
  const port = await freePort();
  const file = fileURLToPath(new URL('main.ts', import.meta.url));
  const child = startProcess(process.execPath, ['--conditions=trpc-gateway-source', file], {
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  if (!child.stdout) throw new Error('It has no stdout.');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return {
    origin: `http://127.0.0.1:${port}`,
    started: JSON.parse(line) as Started,
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** A valid call of each operation of the document. */
export function callsOf({ paths }: OpenApiDocument): Call[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): Call => {
      const [, kind = '', name = ''] = path.split('/');
      const sample = samplesOf(kind)[name as keyof ReturnType<typeof samplesOf>];
      return { id: operation.operationId ?? '', path, method: method.toUpperCase(), operation, sample };
    }),
  );
}
