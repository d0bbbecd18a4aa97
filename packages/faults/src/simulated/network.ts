import type { HttpResponse } from 'trpc-gateway';
import {
  type ClientRequest,
  type ClientResponse,
  type ClientSocket,
  LostConnection,
  type SocketListener,
  type Transport,
} from '../client/transport.ts';
import type { Random } from '../random.ts';
import { Connection } from './connection.ts';
import { Link } from './link.ts';
import { runIn } from './simulatedProcess.ts';
import type { RunningProcess, SentBody } from './runningProcess.ts';
import { SimulatedRequest } from './simulatedRequest.ts';

/** A network between clients and the processes of the service, with a balancer that chooses one of them for each connection. */
export class SimulatedNetwork implements Transport {
  readonly #random: Random;
  readonly #processes: () => readonly RunningProcess[];
  readonly #links = new WeakMap<RunningProcess, Link>();

  /** @param processes returns those that can be reached */
  constructor(random: Random, processes: () => readonly RunningProcess[]) {
    this.#random = random;
    this.#processes = processes;
  }

  linkOf(to: RunningProcess): Link {
    const link = this.#links.get(to) ?? new Link();
    this.#links.set(to, link);
    return link;
  }

  async request(request: ClientRequest, signal?: AbortSignal): Promise<ClientResponse> {
    const connection = this.#connect(signal);
    await connection.carry();
    const received = new SimulatedRequest(request);
    connection.onCut(() => received.abort());
    connection.to.received += 1;
    const { gateway, process } = connection.to;
    const responding = Promise.resolve(runIn(process, () => gateway.handle(received)));
    try {
      const { body, headers, sharedHeaders = [], status } = await connection.race(responding);
      await connection.carryResponse();
      const all = [...sharedHeaders, ...headers].map(([name, value]) => [name.toLowerCase(), value] as const);
      return { status, headers: new Map(all), body: carryBody(body, connection) };
    } catch (error) {
      // As an adapter does with a response that it cannot send.
      void responding.then(discard);
      throw error;
    }
  }

  async open(
    target: string,
    headers: ClientRequest['headers'],
    listener: SocketListener,
  ): Promise<ClientSocket> {
    const connection = this.#connect(undefined);
    await connection.carry();
    const request = new SimulatedRequest({
      method: 'GET',
      target,
      headers: { ...upgradeHeaders, ...headers },
    });
    const { gateway, process } = connection.to;
    connection.onCut(() => request.abort());
    const accept = await connection.race(runIn(process, () => gateway.upgrade(request)));
    await connection.carry();
    if (typeof accept !== 'function') throw new LostConnection(accept?.status);
    return openSocket(connection, accept, listener);
  }

  #connect(signal: AbortSignal | undefined): Connection {
    const reachable = this.#processes();
    if (reachable.length === 0 || signal?.aborted) throw new LostConnection();
    const to = this.#random.pick(reachable);
    const connection = new Connection(to, this.linkOf(to), this.#random);
    signal?.addEventListener('abort', () => connection.cut());
    return connection;
  }
}

/** Those of RFC 6455 §4.1. */
const upgradeHeaders = {
  upgrade: 'websocket',
  connection: 'Upgrade',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

function discard({ body }: HttpResponse): void {
  if (typeof body === 'object' && Symbol.asyncIterator in body) void body[Symbol.asyncIterator]().return?.();
}

const decoder = new TextDecoder();

/** Carries a body in parts, each when the client has taken the one before. */
async function* carryBody(
  body: HttpResponse['body'],
  connection: Connection,
): AsyncGenerator<string, void, void> {
  if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) {
    yield typeof body === 'string' ? body : decoder.decode(body);
    connection.finish();
    return;
  }
  const { bodies, process } = connection.to;
  const sent = body as SentBody;
  bodies.add(sent);
  const parts = body[Symbol.asyncIterator]();
  connection.onCut(() => void parts.return?.());
  try {
    for (;;) {
      const part = await connection.race(runIn(process, () => parts.next()));
      // The cut may end it, too.
      if (part.done && !connection.isOpen) throw new LostConnection();
      if (part.done) break;
      await connection.carry();
      yield decoder.decode(part.value);
    }
    connection.finish();
  } finally {
    bodies.delete(sent);
    connection.cut();
  }
}

function openSocket(
  connection: Connection,
  accept: Exclude<Awaited<ReturnType<RunningProcess['gateway']['upgrade']>>, HttpResponse | undefined>,
  listener: SocketListener,
): ClientSocket {
  const { process, sockets } = connection.to;
  /** What is on its way, in each direction. */
  const ways = { in: Promise.resolve(), out: Promise.resolve() };
  const later = (way: 'in' | 'out', arrive: () => void) => {
    ways[way] = ways[way]
      .then(() => connection.carry())
      .then(arrive)
      .catch(() => {});
  };
  let bufferedBytes = 0;
  let isClosed = false;
  const closed = (isInOrder: boolean) => {
    if (isClosed) return;
    isClosed = true;
    sockets.delete(handler);
    if (process.isAlive) runIn(process, () => void handler.closed(isInOrder));
    connection.cut();
    listener.closed();
  };
  const handler = runIn(process, () =>
    accept({
      get bufferedBytes() {
        return bufferedBytes;
      },
      send(message) {
        bufferedBytes += message.length;
        later('out', () => {
          bufferedBytes -= message.length;
          listener.message(String(message));
          if (process.isAlive) runIn(process, () => handler.drained());
        });
      },
      close: () => later('out', () => closed(true)),
      terminate: () => closed(false),
    }),
  );
  sockets.add(handler);
  void connection.race(new Promise(() => {})).catch(() => closed(false));
  return {
    send: (message) => later('in', () => runIn(process, () => handler.message(Buffer.from(message), false))),
    close: () => later('in', () => closed(true)),
  };
}
