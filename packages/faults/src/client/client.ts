import { setTimeout as sleep } from 'node:timers/promises';
import type { History, Journey, Order, RunReader } from './history.ts';
import type { Random } from '@petstore/testing/random';
import { type Call, httpProtocols, type Outcome, type Protocol, send } from './calls.ts';
import { SocketClient } from './socketClient.ts';
import {
  readStream,
  type StreamEnd,
  type StreamItem,
  type StreamProtocol,
  streamProtocols,
} from './streams.ts';
import { LostConnection, type Transport } from './transport.ts';

/** Where a client is: how it reaches the service, and what it writes down. */
export interface ClientOptions {
  readonly transport: Transport;
  readonly history: History;
  readonly random: Random;
  readonly token: string;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
}

const protocols = [...httpProtocols, 'socket'] as const;
/** Protocols in which a call may have a key. */
const keyedProtocols = ['rest', 'single', 'tool'] as const;

/** How long a client waits before it tries again, in milliseconds: longer each time. */
const retriesMs = [100, 300, 1000, 2000] as const;
const pauseMs = (tries: number): number => retriesMs[Math.min(tries, retriesMs.length - 1)] as number;

/** A client, which speaks every protocol, and repeats what it may. */
export class Client {
  readonly #options: ClientOptions;
  /** Calls at once may open one each. The last one serves the next call. */
  readonly #sockets: SocketClient[] = [];

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** Sends a call once, in a protocol that is chosen at random. */
  call(procedure: Call['procedure'], input: Call['input']): Promise<Outcome> {
    const { random, token } = this.#options;
    return this.#send(random.pick(protocols), { procedure, input, token });
  }

  async #send(protocol: Protocol, call: Call): Promise<Outcome> {
    const { history, random, transport } = this.#options;
    const { input, key = '', procedure, token } = call;
    const sentAt = history.now;
    const outcome =
      protocol === 'socket' ? await this.#overSocket(call) : await send(transport, protocol, call, random);
    history.calls.push({ ...call, protocol, sentAt, endedAt: history.now, outcome });
    history.note(
      () => `${token} ${protocol} ${procedure} ${JSON.stringify(input)} ${key}: ${JSON.stringify(outcome)}`,
    );
    return outcome;
  }

  /** Places an order, and repeats it until its outcome is known twice. */
  async order(text: string, ms: number): Promise<void> {
    const order: Order = { text, results: [], knownBy: undefined, wasBlocked: false };
    this.#options.history.orders.push(order);
    const { random, signal, token } = this.#options;
    // A key is of one protocol.
    const protocol = random.pick(keyedProtocols);
    let key = `${text}-key`;
    for (let tries = 0; !signal.aborted; tries += 1) {
      const outcome = await this.#send(protocol, { procedure: 'place', input: { text, ms }, token, key });
      if (outcome.kind === 'done') {
        order.results.push({ run: String(outcome.data['run']), isReplayed: outcome.isReplayed });
        if (order.results.length > 1) order.knownBy = 'result';
      } else if (outcome.kind === 'failed' && outcome.status === 401) order.knownBy = 'revoked';
      else if (outcome.kind === 'failed' && outcome.message.includes('Look for its effect first')) {
        if ((await this.#look(text)) !== 0) order.knownBy = 'look';
        else {
          order.wasBlocked = true;
          key += '2';
        }
      }
      if (order.knownBy !== undefined) return;
      await sleep(pauseMs(order.results.length > 0 ? 0 : tries));
    }
  }

  /** Returns how many effects an order had; `undefined` if the client may no longer know. */
  async #look(text: string): Promise<number | undefined> {
    for (let tries = 0; !this.#options.signal.aborted; tries += 1) {
      const outcome = await this.call('look', { text });
      if (outcome.kind === 'done') return (outcome.data['runs'] as readonly string[]).length;
      if (outcome.kind === 'failed' && outcome.status === 401) return undefined;
      await sleep(pauseMs(tries));
    }
    return undefined;
  }

  /** Subscribes to a channel until the client leaves, and goes on after all that its client goes on after. */
  async subscribe(channel: string): Promise<void> {
    const { history, random, signal } = this.#options;
    const protocol = random.pick(streamProtocols);
    const journey: Journey = { channel, items: [], isLate: false, deadBy: undefined };
    history.journeys.push(journey);
    history.note(() => `${this.#options.token} subscribes to ${channel} by ${protocol}`);
    const onItem = (item: StreamItem) => void journey.items.push(item);
    journey.deadBy = await this.#follow(protocol, 'events', channel, { signal, onItem });
  }

  /** Reads a run until its end, or once. */
  async answer(key: string, isOnce = false): Promise<void> {
    const { history, random, signal } = this.#options;
    const reader: RunReader = { key, received: [], resyncs: 0, end: undefined };
    history.readers.push(reader);
    const protocol = random.pick(streamProtocols);
    history.note(() => `reads the answer ${key} by ${protocol}`);
    const gone = new AbortController();
    const end = await this.#follow(protocol, 'answer', key, {
      signal: AbortSignal.any([signal, gone.signal]),
      onItem({ event, type }) {
        if (type === 'event') reader.received.push(Number(event));
        // A second one with no event between: it is no longer kept.
        else if (reader.resyncs > 0 && reader.received.length === 0) gone.abort();
        else {
          // The run begins anew.
          reader.resyncs += 1;
          reader.received.length = 0;
        }
      },
      isOnce,
    });
    reader.end = gone.signal.aborted ? resynced : end;
    history.note(() => `the answer ${key} has ended: ${JSON.stringify(end)} after ${reader.received.join()}`);
  }

  /** @returns how it has ended, if it has not ended with the signal */
  async #follow(
    protocol: StreamProtocol,
    procedure: 'answer' | 'events',
    key: string,
    { isOnce = false, onItem, signal }: FollowOptions,
  ): Promise<StreamEnd | undefined> {
    const { history, token, transport } = this.#options;
    let lastEventId: string | undefined;
    let tries = 0;
    for (; !signal.aborted; tries += 1) {
      const end = await readStream(transport, protocol, {
        procedure,
        key,
        token,
        lastEventId,
        signal,
        onItem(item) {
          if (signal.aborted) return;
          if (item.id !== '') lastEventId = item.id;
          tries = 0;
          history.note(
            () => `${token} ${protocol} ${procedure} ${key}: ${item.type} ${item.id} ${item.event}`,
          );
          onItem(item);
        },
      });
      if (signal.aborted) return undefined;
      history.note(() => `${token} ${protocol} ${procedure} ${key}: ${JSON.stringify(end)}`);
      const isComplete = end.kind === 'ended' && procedure === 'answer';
      if (isComplete || isOnce || (end.kind === 'failed' && !goesOn(protocol, end))) return end;
      await sleep(pauseMs(tries));
    }
    return undefined;
  }

  async #overSocket(call: Call): Promise<Outcome> {
    const { token, transport } = this.#options;
    try {
      const last = this.#sockets.at(-1);
      if (last?.isOpen !== true || last.isLeaving)
        this.#sockets.push(await SocketClient.open(transport, token));
    } catch (error) {
      if (!(error instanceof LostConnection)) throw error;
      return error.status === undefined
        ? { kind: 'lost' }
        : { kind: 'failed', status: error.status, message: 'The WebSocket was rejected.' };
    }
    return (this.#sockets.at(-1) as SocketClient).call(call);
  }

  close(): void {
    for (const socket of this.#sockets) socket.close();
  }
}

interface FollowOptions {
  readonly signal: AbortSignal;
  readonly onItem: (item: StreamItem) => void;
  /** Whether the client does not connect again. Default: false. */
  readonly isOnce?: boolean;
}

/**
 * Whether a client connects again after an error, as docs/events.md says of each: an `EventSource` unless its response was an
 * error; `httpSubscriptionLink` after those that a server may recover from; the user of `wsLink` after these, too.
 */
function goesOn(
  protocol: StreamProtocol,
  { code, hasBegun, status }: StreamEnd & { kind: 'failed' },
): boolean {
  if (code === 'RUN_STOPPED') return false;
  if (protocol === 'rest') return hasBegun;
  return status === 502 || status === 503 || status === 504;
}

const resynced: StreamEnd = { kind: 'failed', status: 410, code: 'RESYNC', hasBegun: true };
