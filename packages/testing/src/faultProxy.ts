import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './freePort.ts';

/**
 * What the proxy does from now on:
 * - `none`: nothing
 * - `reject`: nothing listens on its port, and open connections are cut
 * - `freeze`: nothing passes, and nothing is closed
 * - `delay`: all data from the server is delayed by `ms` milliseconds
 * - `cutMessages`: for `percent` of the responses, half is passed, then the connection is cut
 * - `cutResponses`: for `percent` of the responses nothing is passed and the connection is cut; the server has received the request
 */
export type Fault =
  | { readonly kind: 'none' | 'reject' | 'freeze' }
  | { readonly kind: 'delay'; readonly ms: number }
  | {
      readonly kind: 'cutMessages' | 'cutResponses';
      readonly percent: number;
      /** Only responses to requests whose bytes contain this text, such as the name of a collection. Default: all. */
      readonly only?: string;
    };

export interface FaultProxy {
  /** The same deployment through the proxy. */
  readonly uri: string;
  /** For the connections that are there, too. */
  readonly set: (fault: Fault) => void;
  /** How many connections are open. */
  readonly connections: number;
  readonly close: () => Promise<void>;
}

/** A TCP proxy on a free port of this machine, in front of the one server that the URI names: of MongoDB, Redis or HTTP. */
export async function startFaultProxy(uri: string): Promise<FaultProxy> {
  const [, scheme, host = '', port = '27017'] =
    /^(http|mongodb|redis):\/\/(?:[^/@]*@)?([^:/,]+)(?::(\d+))?/.exec(uri) ?? [];
  if (host === '') throw new Error('The URI must name one server.');
  const { idOf, read, respondsTo } = scheme === 'mongodb' ? mongodbMessages : messagesInOrder;
  let fault: Fault = { kind: 'none' };
  const links = new Set<Link>();
  /** Callbacks that wait for the end of a freeze. */
  let held: (() => void)[] = [];

  const unlessFrozen = (action: () => void) => {
    if (fault.kind === 'freeze') held.push(action);
    else action();
  };

  const listener = createServer((client) => {
    let last = Promise.resolve();
    let delayed = 0;
    /** Passes on what comes from the server, its end too, in its order, also when a delay is over. */
    const arrive = (action: () => void) => {
      if (fault.kind !== 'delay' && delayed === 0) return unlessFrozen(action);
      const due = performance.now() + (fault.kind === 'delay' ? fault.ms : 0);
      delayed += 1;
      last = last
        .then(() => sleep(Math.max(0, due - performance.now())))
        .then(() => {
          delayed -= 1;
          unlessFrozen(action);
        });
    };
    const link = createLink(client, connect(Number(port), host), arrive);
    links.add(link);
    link.whenClosed(() => links.delete(link));

    // Numbers of the requests whose responses will be cut.
    const chosen = new Set<number>();
    read(link.client, (request) =>
      unlessFrozen(() => {
        if ((fault.kind === 'cutResponses' || fault.kind === 'cutMessages') && isChosen(fault, request)) {
          chosen.add(idOf(request));
        }
        link.server.write(request);
      }),
    );
    const response = (message: Buffer) => {
      if (!chosen.delete(respondsTo(message))) {
        link.client.write(message);
        return;
      }
      if (fault.kind === 'cutMessages') {
        link.client.end(message.subarray(0, message.length >> 1), () => link.destroy());
      } else link.destroy();
    };
    read(link.server, (message) => arrive(() => response(message)));
  });
  // The port stays the proxy's while nothing listens on it.
  const listenPort = await freePort();
  listener.listen(listenPort, '127.0.0.1');
  await once(listener, 'listening');

  return {
    uri: uri.replace(/(\/\/(?:[^/@]*@)?)[^/]+/, `$1127.0.0.1:${listenPort}`),
    set(next) {
      fault = next;
      if (next.kind === 'reject') {
        listener.close();
        for (const link of links) link.destroy();
      } else if (!listener.listening) listener.listen(listenPort, '127.0.0.1');
      if (next.kind !== 'freeze') {
        const actions = held;
        held = [];
        for (const action of actions) action();
      }
    },
    get connections() {
      return links.size;
    },
    async close() {
      for (const link of links) link.destroy();
      if (!listener.listening) return;
      listener.close();
      await once(listener, 'close');
    },
  };
}

/** A client's connection and the one to the server that goes with it: they end together. */
interface Link {
  readonly client: Socket;
  readonly server: Socket;
  readonly destroy: () => void;
  readonly whenClosed: (action: () => void) => void;
}

function createLink(client: Socket, server: Socket, arrive: (end: () => void) => void): Link {
  const destroy = () => {
    client.destroy();
    server.destroy();
  };
  for (const socket of [client, server]) {
    socket.setNoDelay();
    socket.on('error', () => socket.destroy());
  }
  client.on('close', destroy);
  server.on('close', () => arrive(destroy));
  return { client, server, destroy, whenClosed: (action) => client.on('close', action) };
}

/** The header of a message of MongoDB's wire protocol: its length, its number, and the number of the request it responds to. */
const HEADER_BYTES = 16;
const REQUEST_ID = 4;
const RESPONSE_TO = 8;

/** Calls back for each whole message. */
function readMessages(socket: Socket, onMessage: (message: Buffer) => void): void {
  let chunks: Buffer[] = [];
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    while (bytes >= HEADER_BYTES) {
      const all = chunks.length === 1 ? (chunks[0] ?? chunk) : Buffer.concat(chunks);
      const length = all.readInt32LE(0);
      chunks = [all];
      if (bytes < length) return;
      chunks = [all.subarray(length)];
      bytes -= length;
      onMessage(all.subarray(0, length));
    }
  });
}

const mongodbMessages = {
  read: readMessages,
  idOf: (request: Buffer) => request.readInt32LE(REQUEST_ID),
  respondsTo: (response: Buffer) => response.readInt32LE(RESPONSE_TO),
};

/** Redis and HTTP number nothing and respond in order: of a connection, what arrives next is cut. */
const messagesInOrder = {
  read: (socket: Socket, onMessage: (message: Buffer) => void) => void socket.on('data', onMessage),
  idOf: () => 0,
  respondsTo: () => 0,
};

const isChosen = ({ percent, only }: { percent: number; only?: string }, request: Buffer): boolean =>
  Math.random() * 100 < percent && (only === undefined || request.includes(only));
