/** A well-behaved client with another address, started as a process by `startPinned(1, …)`. */
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { respondToParent } from '../load/pinned.ts';

export type BystanderMessage = { readonly begin: { readonly port: number } } | { readonly end: true };

/** The number of requests and WebSockets of the bystander, with their longest times in milliseconds. */
export interface BystanderResult {
  readonly requests: number;
  readonly worstRequestMs: number;
  readonly sockets: number;
  readonly worstSocketMs: number;
  /** The longest time that this process itself did not run. The times above may include it. */
  readonly worstPauseMs: number;
  /** A message for each kind of error, without duplicates. */
  readonly errors: readonly string[];
}

const localAddress = '127.0.0.2';
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** The duration of a request or WebSocket, or its error. */
type Timed = { readonly ms: number } | { readonly error: string };

/** Sends `GET /v1/small`. Resolves when the response is complete. */
function send(port: number): Promise<Timed> {
  const begun = performance.now();
  return new Promise((resolve) => {
    const headers = { authorization: 'Bearer good-key' };
    request({ agent, port, host: '127.0.0.1', localAddress, path: '/v1/small', headers }, (response) => {
      response.resume().once('end', () => {
        if (response.statusCode === 200) resolve({ ms: performance.now() - begun });
        else resolve({ error: `GET /v1/small got status ${response.statusCode}` });
      });
    })
      .on('error', ({ message }) => resolve({ error: `GET /v1/small failed: ${message}` }))
      .end();
  });
}

/** Opens a WebSocket, sends the key in the connection parameters, as browsers must, and calls a procedure. */
function call(port: number): Promise<Timed> {
  const begun = performance.now();
  return new Promise((resolve) => {
    const url = `ws://127.0.0.1:${port}/trpc?connectionParams=1`;
    const socket = new WebSocket(url, { localAddress });
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
        data.toString().includes('"small"')
          ? { ms: performance.now() - begun }
          : { error: `unexpected message: ${String(data)}` },
      ),
    );
    socket.on('unexpected-response', (_request, { statusCode }) =>
      end({ error: `WebSocket upgrade got status ${statusCode}` }),
    );
    socket.on('error', ({ message }) => end({ error: `WebSocket failed: ${message}` }));
    socket.on('close', (code) => end({ error: `WebSocket closed with code ${code}` }));
  });
}

let stopping = new AbortController();
let result: Promise<BystanderResult> | undefined;

/** Sends one request after the other until `stopping` aborts, with a pause after each response. Adds to `errors`. */
async function sendUntilStopped(sendOne: () => Promise<Timed>, pauseMs: number, errors: string[]) {
  let count = 0;
  let worst = 0;
  while (!stopping.signal.aborted) {
    const timed = await sendOne();
    count += 1;
    if ('error' in timed) errors.push(timed.error);
    else worst = Math.max(worst, timed.ms);
    await sleep(pauseMs);
  }
  return { count, worst: Math.round(worst) };
}

async function run(port: number): Promise<BystanderResult> {
  const errors: string[] = [];
  let worstPauseMs = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    worstPauseMs = Math.max(worstPauseMs, now - last - 5);
    last = now;
  }, 5);
  const [requests, sockets] = await Promise.all([
    sendUntilStopped(() => send(port), 10, errors),
    sendUntilStopped(() => call(port), 50, errors),
  ]);
  clearInterval(timer);
  return {
    requests: requests.count,
    worstRequestMs: requests.worst,
    sockets: sockets.count,
    worstSocketMs: sockets.worst,
    worstPauseMs: Math.round(worstPauseMs),
    errors: [...new Set(errors)],
  };
}

respondToParent(async (received) => {
  const message = received as BystanderMessage;
  if ('begin' in message) {
    stopping = new AbortController();
    result = run(message.begin.port);
    return {};
  }
  stopping.abort();
  return (await result) ?? {};
});
