import { setTimeout as sleep } from 'node:timers/promises';
import { createTRPCUntypedClient, createWSClient, TRPCClientError, wsLink } from '@trpc/client';
import type { RunningService } from '@petstore/testing/serviceProcess';

const clients = 10;

/** The observations of tRPC's clients of a stop. */
export interface SocketDrain {
  readonly code: number | null;
  /** From the signal to the end of the process, in milliseconds. */
  readonly exitMs: number;
  /** Calls with a result. */
  readonly completed: number;
  /** Calls that were rejected with 503. */
  readonly unavailable: number;
  /** The messages of all other errors: the call was sent and has no response. */
  readonly unanswered: readonly string[];
}

/** Returns a sentence for each promise that a stop did not keep. */
export const socketProblems = ({ code, exitMs, unanswered }: SocketDrain): readonly string[] => [
  ...(code === 0 ? [] : [`The process ended with code ${code}.`]),
  ...(exitMs <= 10_000 ? [] : [`The stop took ${exitMs} ms.`]),
  ...unanswered.map((message) => `A call was not answered: ${message}`),
];

/**
 * Stops the runtime's test service while tRPC's clients call it on WebSockets, each with a long call and many short
 * ones, until they receive the request to reconnect.
 * @param longMs the duration of the long calls, which begin up to 400 ms before the signal
 */
export async function drainSocketCalls(
  { origin, stop }: Pick<RunningService, 'origin' | 'stop'>,
  longMs: number,
): Promise<SocketDrain> {
  const counts = { completed: 0, unavailable: 0 };
  const unanswered: string[] = [];
  async function start() {
    const server = { isStopping: false };
    /** Sees the request to reconnect, which the link does not report. */
    class ObservedSocket extends WebSocket {
      constructor(url: string | URL) {
        super(url);
        this.addEventListener('message', ({ data }) => {
          server.isStopping ||= String(data).includes('"method":"reconnect"');
        });
      }
    }
    const socket = createWSClient({ url: `${origin.replace('http', 'ws')}/trpc`, WebSocket: ObservedSocket });
    const client = createTRPCUntypedClient({ links: [wsLink({ client: socket })] });
    const call = async (path: string, input: object) => {
      try {
        await client.mutation(path, input);
        counts.completed += 1;
      } catch (error) {
        const data: unknown = error instanceof TRPCClientError ? error.data : undefined;
        const isUnavailable =
          typeof data === 'object' && data !== null && 'httpStatus' in data && data.httpStatus === 503;
        if (isUnavailable) counts.unavailable += 1;
        else unanswered.push(String(error));
      }
    };
    const callInSuccession = async () => {
      while (!server.isStopping) {
        await call('createNote', { name: 'short' });
        await sleep(Math.random() * 20);
      }
    };
    await call('wait', { name: 'first', ms: 0 });
    const calls = [call('wait', { name: 'long', ms: longMs }), callInSuccession(), callInSuccession()];
    return { calls: Promise.all(calls), socket };
  }
  const started = await Promise.all(Array.from({ length: clients }, start));
  await sleep(Math.random() * 400);
  const since = performance.now();
  const { code } = await stop();
  const exitMs = performance.now() - since;
  await Promise.all(started.map(({ calls }) => calls));
  await Promise.all(started.map(({ socket }) => socket.close()));
  return { code, exitMs, ...counts, unanswered };
}
