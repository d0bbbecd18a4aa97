/** An ordinary client of another address, in a process of its own: `startPinned(1, …)`. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { respondToParent } from '../load/pinned.ts';

export type BystanderMessage = { readonly begin: { readonly port: number } } | { readonly end: true };

/** What an ordinary client met, in milliseconds. */
export interface Served {
  readonly requests: number;
  readonly worstRequestMs: number;
  readonly sockets: number;
  readonly worstSocketMs: number;
  /** The longest that this process itself did not run: the times above hold as much of it. */
  readonly worstPauseMs: number;
  readonly failures: readonly string[];
}

const address = '127.0.0.2';
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** How long a request or a socket takes, and what is wrong with it. */
type Timed = { readonly ms: number } | { readonly failure: string };

function send(port: number): Promise<Timed> {
  const begun = performance.now();
  return new Promise((resolve) => {
    const headers = { authorization: 'Bearer good-key' };
    request(
      { agent, port, host: '127.0.0.1', localAddress: address, path: '/v1/small', headers },
      (response) => {
        response.resume().once('end', () => {
          if (response.statusCode === 200) resolve({ ms: performance.now() - begun });
          else resolve({ failure: `a request: ${response.statusCode}` });
        });
      },
    )
      .on('error', ({ message }) => resolve({ failure: `a request: ${message}` }))
      .end();
  });
}

/** Opens a socket, sends the key as a browser must, and calls. */
function call(port: number): Promise<Timed> {
  const begun = performance.now();
  return new Promise((resolve) => {
    const url = `ws://127.0.0.1:${port}/trpc?connectionParams=1`;
    const socket = new WebSocket(url, { localAddress: address });
    const end = (timed: Timed) => {
      resolve(timed);
      socket.terminate();
    };
    socket.on('open', () => {
      socket.send('{"method":"connectionParams","data":{"authorization":"Bearer good-key"}}');
      socket.send('{"id":1,"method":"query","params":{"path":"small"}}');
    });
    socket.on('message', (data: Buffer) =>
      end(
        data.toString().includes('"small"') ? { ms: performance.now() - begun } : { failure: String(data) },
      ),
    );
    socket.on('unexpected-response', (_request, { statusCode }) =>
      end({ failure: `a socket: ${statusCode}` }),
    );
    socket.on('error', ({ message }) => end({ failure: `a socket: ${message}` }));
    socket.on('close', (code) => end({ failure: `a socket: closed with ${code}` }));
  });
}

let stopping = new AbortController();
let running: Promise<Served> | undefined;

/** Asks again and again, some milliseconds after each answer. */
async function repeat(once: () => Promise<Timed>, everyMs: number, failures: string[]) {
  let count = 0;
  let worst = 0;
  while (!stopping.signal.aborted) {
    const timed = await once();
    count += 1;
    if ('failure' in timed) failures.push(timed.failure);
    else worst = Math.max(worst, timed.ms);
    await sleep(everyMs);
  }
  return { count, worst: Math.round(worst) };
}

async function serve(port: number): Promise<Served> {
  const failures: string[] = [];
  let worstPauseMs = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    worstPauseMs = Math.max(worstPauseMs, now - last - 5);
    last = now;
  }, 5);
  const [requests, sockets] = await Promise.all([
    repeat(() => send(port), 10, failures),
    repeat(() => call(port), 50, failures),
  ]);
  clearInterval(timer);
  return {
    requests: requests.count,
    worstRequestMs: requests.worst,
    sockets: sockets.count,
    worstSocketMs: sockets.worst,
    worstPauseMs: Math.round(worstPauseMs),
    failures: [...new Set(failures)],
  };
}

respondToParent(async (received) => {
  const message = received as BystanderMessage;
  if ('begin' in message) {
    stopping = new AbortController();
    running = serve(message.begin.port);
    return {};
  }
  stopping.abort();
  return (await running) ?? {};
});
