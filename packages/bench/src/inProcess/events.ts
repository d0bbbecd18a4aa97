/*
 * `events.ts WHO`: what an event costs `gateway` or `trpc` (its standalone adapter) for each of 200 subscribers on node:http, over
 * sockets that keep nothing. The procedure is as tRPC documents subscriptions. Prints microseconds of processor time.
 */
import { EventEmitter, on } from 'node:events';
import { createServer, type Server } from 'node:http';
import { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { initTRPC, tracked } from '@trpc/server';
import { createHTTPHandler } from '@trpc/server/adapters/standalone';
import { createGateway } from 'trpc-gateway';
import { nodeHandler } from 'trpc-gateway/node';
import { median } from '../throughput.ts';
import { cpuMs } from './cpuMs.ts';

const subscribers = 200;
const eventsPerBlock = 50;
const blocks = 15;

interface Event {
  readonly id: number;
  readonly name: string;
}

const emitter = new EventEmitter<{ event: [Event] }>().setMaxListeners(0);
const t = initTRPC.create({ sse: { ping: { enabled: false } } });
const router = t.router({
  watch: t.procedure.subscription(async function* ({ signal }) {
    for await (const [event] of on(emitter, 'event', { signal: signal as AbortSignal }))
      yield tracked(String((event as Event).id), event as Event);
  }),
});

/** A connection of a client that reads all at once. */
class Connection extends Duplex {
  readonly remoteAddress = '127.0.0.1';
  written = 0;

  override _read() {}
  override _write(_chunk: unknown, _encoding: string, done: () => void) {
    this.written += 1;
    done();
  }
  override _writev(_chunks: unknown, done: () => void) {
    this.written += 1;
    done();
  }
  setNoDelay() {}
  setKeepAlive() {}
  setTimeout() {}
  ref() {}
  unref() {}
  destroySoon() {
    this.destroy();
  }
}

const turn = () => new Promise(setImmediate);

/** @returns the microseconds of an event for one of its subscribers */
async function measure(server: Server, path: string): Promise<number> {
  const connections = Array.from({ length: subscribers }, () => new Connection());
  for (const connection of connections) {
    server.emit('connection', connection);
    connection.push(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n`);
  }
  while (emitter.listenerCount('event') < subscribers) await sleep(5);
  let id = 0;
  const times: number[] = [];
  for (let block = 0; block < blocks; block += 1) {
    const startedAt = cpuMs();
    for (let count = 0; count < eventsPerBlock; count += 1) {
      id += 1;
      const before = connections.map(({ written }) => written);
      emitter.emit('event', { id, name: 'Animal' });
      while (connections.some(({ written }, index) => written === before[index])) await turn();
    }
    times.push((1000 * (cpuMs() - startedAt)) / (eventsPerBlock * subscribers));
  }
  for (const connection of connections) connection.destroy();
  while (emitter.listenerCount('event') > 0) await sleep(5);
  // Those before are compiled meanwhile.
  return median(times.slice(-7));
}

const document = { title: 'Events', version: '1' };
const handler =
  process.argv[2] === 'trpc'
    ? createHTTPHandler({ router, basePath: '/trpc/' })
    : nodeHandler(await createGateway({ router, createContext: () => ({}), document }));
process.stdout.write(String(await measure(createServer(handler), '/trpc/watch')));
process.exit(0);
