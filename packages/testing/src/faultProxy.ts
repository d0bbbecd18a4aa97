import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './freePort.ts';

/**
 * What the proxy does from now on:
 * - `none`: nothing
 * - `reject`: nothing listens on its port, and open connections are cut
 * - `freeze`: nothing passes, and nothing is closed
 * - `delay`: all data from the server is delayed by `ms` milliseconds
 * - `cutMessages`: for `percent` of the requests, half of what arrives next is passed, then the connection is cut
 * - `cutResponses`: for `percent` of the requests the connection is cut when its response arrives, which is not passed
 */
export type Fault =
  | { readonly kind: 'none' | 'reject' | 'freeze' }
  | { readonly kind: 'delay'; readonly ms: number }
  | {
      readonly kind: 'cutMessages' | 'cutResponses';
      readonly percent: number;
      /** Only requests whose bytes contain this text, such as the name of a collection. Default: all. */
      readonly only?: string;
    };

export type FaultProxy = Awaited<ReturnType<typeof startFaultProxy>>;

/** A TCP proxy on a free port of this machine, in front of the one server that the URI names: of MongoDB, Redis or HTTP. */
export async function startFaultProxy(uri: string) {
  const [, host = '', port = '27017'] =
    /^(?:http|mongodb|redis):\/\/(?:[^/@]*@)?([^:/,]+)(?::(\d+))?/.exec(uri) ?? [];
  if (host === '') throw new Error('The URI must name one server.');
  let fault: Fault = { kind: 'none' };
  /** The functions that end the open connections. */
  const links = new Set<() => void>();
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
    const server = connect(Number(port), host);
    const destroy = () => {
      client.destroy();
      server.destroy();
      links.delete(destroy);
    };
    links.add(destroy);
    for (const socket of [client, server]) {
      socket.setNoDelay();
      socket.on('error', () => socket.destroy());
    }
    client.on('close', destroy);
    server.on('close', () => arrive(destroy));

    // Clients wait for a response before they send the next request, so what arrives next belongs to the last one.
    let isChosen = false;
    client.on('data', (request: Buffer) =>
      unlessFrozen(() => {
        if (fault.kind === 'cutResponses' || fault.kind === 'cutMessages')
          isChosen ||= chooses(fault, request);
        server.write(request);
      }),
    );
    const respond = (response: Buffer) => {
      if (!isChosen) client.write(response);
      else if (fault.kind === 'cutMessages')
        client.end(response.subarray(0, response.length >> 1), () => destroy());
      else destroy();
    };
    server.on('data', (response: Buffer) => arrive(() => respond(response)));
  });
  // The port stays the proxy's while nothing listens on it.
  const listenPort = await freePort();
  listener.listen(listenPort, '127.0.0.1');
  await once(listener, 'listening');

  return {
    /** The same deployment through the proxy. */
    uri: uri.replace(/(\/\/(?:[^/@]*@)?)[^/]+/, `$1127.0.0.1:${listenPort}`),
    /** For the connections that are there, too. */
    set: (next: Fault) => {
      fault = next;
      if (next.kind === 'reject') {
        listener.close();
        for (const end of links) end();
      } else if (!listener.listening) listener.listen(listenPort, '127.0.0.1');
      if (next.kind !== 'freeze') {
        const actions = held;
        held = [];
        for (const action of actions) action();
      }
    },
    /** How many connections are open. */
    get connections() {
      return links.size;
    },
    close: async () => {
      for (const end of links) end();
      if (!listener.listening) return;
      listener.close();
      await once(listener, 'close');
    },
  };
}

const chooses = ({ percent, only }: { percent: number; only?: string }, request: Buffer): boolean =>
  Math.random() * 100 < percent && (only === undefined || request.includes(only));
