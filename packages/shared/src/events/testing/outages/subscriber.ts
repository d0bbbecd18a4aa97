import { randomInt } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogItem } from '../../eventLog.ts';
import { Journey } from '../journey.ts';

/** After how long without an item a client connects again, in milliseconds. */
const silenceMs = 3000;

/** A client of the outage test: it disconnects at random, and continues at another worker with the id that it has. */
export class Subscriber {
  readonly channel: string;
  readonly journey = new Journey();
  /** How often it has received each event. */
  readonly received = new Map<string, number>();
  /** What it received that may not follow what it had received before. */
  violation: unknown = undefined;
  connectionCount = 0;
  readonly #isChecked: boolean;
  #id: string | undefined = undefined;

  /** @param isChecked whether its items are checked as those of an event log */
  constructor(channel: string, isChecked: boolean) {
    this.channel = channel;
    this.#isChecked = isChecked;
  }

  /** @param port returns the port of a worker */
  async run(port: () => number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // oxlint-disable no-await-in-loop -- one connection after the other
      await this.#connect(port(), signal).catch(() => {});
      await sleep(randomInt(50));
      // oxlint-enable no-await-in-loop
    }
  }

  async #connect(port: number, signal: AbortSignal): Promise<void> {
    const after = this.#id === undefined ? '' : `?after=${encodeURIComponent(this.#id)}`;
    const request = get({ port, host: '127.0.0.1', path: `/${this.channel}${after}`, agent: false, signal });
    request.setTimeout(silenceMs, () => request.destroy());
    request.on('error', () => {});
    const leaving = setTimeout(() => request.destroy(), randomInt(10_000));
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        request.on('response', resolve).on('close', () => reject(new Error('The connection was closed.')));
      });
      response.on('error', () => {});
      this.connectionCount += 1;
      for await (const line of createInterface({ input: response })) this.#add(JSON.parse(line) as LogItem);
    } finally {
      clearTimeout(leaving);
      request.destroy();
    }
  }

  #add(item: LogItem): void {
    if (item.id !== '') this.#id = item.id;
    if (item.type === 'event') this.received.set(item.event, (this.received.get(item.event) ?? 0) + 1);
    if (!this.#isChecked) return;
    try {
      this.journey.add(item);
    } catch (error) {
      this.violation ??= error;
    }
  }
}
