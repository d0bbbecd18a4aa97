import { WebSocket } from 'ws';
import { type ClientSocket, LostConnection, type Transport } from '../client/transport.ts';
import type { Random } from '@petstore/testing/random';
import type { Processes, Started } from './processes.ts';

const host = '127.0.0.1';

/** Connects to one of the processes that run, chosen at random: each request and each WebSocket has a connection of its own. */
export function realTransport(processes: Processes, random: Random): Transport {
  function choose(): Started {
    const { reachable } = processes;
    if (reachable.length === 0) throw new LostConnection();
    return random.pick(reachable);
  }

  return {
    async request({ body, headers, method, target }, signal) {
      const to = choose();
      const sentAt = performance.now();
      const lost = () => {
        if (!signal?.aborted) processes.lost(to, sentAt, `${method} ${target}`);
        return new LostConnection();
      };
      const sent = {
        method,
        headers: { 'accept-encoding': 'identity', ...headers, connection: 'close' },
        ...(body && { body }),
      };
      const response = await fetch(`http://${host}:${to.port}${target}`, {
        ...sent,
        signal: signal ?? null,
      }).catch(() => {
        throw lost();
      });
      return {
        status: response.status,
        headers: new Map(response.headers),
        body: bodyOf(response.body?.pipeThrough(new TextDecoderStream()) ?? [], lost),
      };
    },

    async open(target, headers, listener) {
      const to = choose();
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
        if (!mayEnd) processes.lost(to, sentAt, `The WebSocket of ${target}`);
        opened.reject(new LostConnection());
        listener.closed();
      });
      return opened.promise;
    },
  };
}

async function* bodyOf(
  parts: AsyncIterable<string> | Iterable<string>,
  lost: () => LostConnection,
): AsyncGenerator<string, void, void> {
  try {
    yield* parts;
  } catch {
    throw lost();
  }
}
