import { type IncomingMessage, request } from 'node:http';
import { WebSocket } from 'ws';
import {
  type ClientRequest,
  type ClientResponse,
  type ClientSocket,
  LostConnection,
  type SocketListener,
  type Transport,
} from '../client/transport.ts';
import type { Random } from '@petstore/testing/random';
import type { Processes, Started } from './processes.ts';

const host = '127.0.0.1';

/** Connects to one of the processes that run, chosen at random: each request and each WebSocket has a connection of its own. */
export class RealTransport implements Transport {
  readonly #processes: Processes;
  readonly #random: Random;

  constructor(processes: Processes, random: Random) {
    this.#processes = processes;
    this.#random = random;
  }

  async request(
    { body, headers, method, target }: ClientRequest,
    signal?: AbortSignal,
  ): Promise<ClientResponse> {
    const to = this.#choose();
    const sentAt = performance.now();
    const lost = () => {
      if (!signal?.aborted) this.#processes.lost(to, sentAt, `${method} ${target}`);
      return new LostConnection();
    };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { host, port: to.port, method, path: target, headers, agent: false };
      const sent = request({ ...options, ...(signal && { signal }) });
      let hasResponse = false;
      sent.on('response', (received) => {
        hasResponse = true;
        resolve(received);
      });
      sent.on('error', () => {});
      sent.on('close', () => hasResponse || reject(lost()));
      sent.end(body);
    });
    return {
      status: response.statusCode ?? 0,
      headers: new Map(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
      body: bodyOf(response, lost),
    };
  }

  open(target: string, headers: ClientRequest['headers'], listener: SocketListener): Promise<ClientSocket> {
    const to = this.#choose();
    const sentAt = performance.now();
    const socket = new WebSocket(`ws://${host}:${to.port}${target}`, { headers, perMessageDeflate: false });
    const opened = Promise.withResolvers<ClientSocket>();
    let mayEnd = false;
    socket.on('open', () =>
      opened.resolve({
        send: (message) => socket.send(message, () => {}),
        close() {
          mayEnd = true;
          socket.close();
        },
      }),
    );
    socket.on('message', (data: Buffer) => {
      const text = data.toString();
      mayEnd ||= text.includes('"reconnect"');
      listener.message(text);
    });
    socket.on('unexpected-response', (sent, { statusCode }) => {
      opened.reject(new LostConnection(statusCode));
      mayEnd = true;
      sent.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      if (!mayEnd) this.#processes.lost(to, sentAt, `The WebSocket of ${target}`);
      opened.reject(new LostConnection());
      listener.closed();
    });
    return opened.promise;
  }

  #choose(): Started {
    const { reachable } = this.#processes;
    if (reachable.length === 0) throw new LostConnection();
    return this.#random.pick(reachable);
  }
}

async function* bodyOf(
  response: IncomingMessage,
  lost: () => LostConnection,
): AsyncGenerator<string, void, void> {
  try {
    for await (const part of response.setEncoding('utf8')) yield part as string;
  } catch {
    throw lost();
  }
  if (!response.complete) throw lost();
}
