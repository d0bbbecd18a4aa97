import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { dialTls } from '@petstore/testing/certificateFiles';
import { listening, logLines, startService } from '@petstore/testing/serviceProcess';
import { onTestFinished } from 'vitest';
import type { RunOptions } from '../options.ts';

const program = fileURLToPath(new URL('service.ts', import.meta.url));

export type Notes = Awaited<ReturnType<typeof startNotes>>;

/** Starts the notes service as a process until the test ends. @param options serializable as JSON */
export function startProcess(options: Partial<RunOptions>, env: NodeJS.ProcessEnv = {}) {
  const started = startService(process.execPath, [program], {
    env: { PATH: process.env['PATH'], OPTIONS: JSON.stringify(options), ...env },
  });
  onTestFinished(async () => {
    started.child.kill('SIGKILL');
    await started.exited;
  });
  return started;
}

/** Starts the notes service until the test ends, with options that are serializable as JSON. */
export async function startNotes(options: Partial<RunOptions> = {}) {
  const service = await listening(startProcess(options));
  /** Returns the log lines with this message. */
  const logged = (message: string) => logLines(service).filter(({ msg }) => msg === message);
  // The origin of the admin port.
  return { ...service, admin: String(logged('listening')[0]?.['admin']), logged };
}

/** Sends a call without the end of its body. @returns a function that ends the body and resolves with the response */
export async function callInFlight({ origin }: Notes): Promise<() => Promise<string>> {
  const { hostname, port, protocol } = new URL(origin);
  const isTls = protocol === 'https:';
  const socket = isTls ? (await dialTls({ port })).socket : connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  if (!isTls) await once(socket, 'connect');
  socket.write(
    'POST /v1/notes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"name":"a"',
  );
  await sleep(200);
  return async () => {
    socket.write('}');
    return String(await once(socket, 'data'));
  };
}
