import { setTimeout as sleep } from 'node:timers/promises';
import type { Animal } from '@petstore/core';
import { eventually } from '@petstore/testing/eventually';

export interface Creates {
  /** The acknowledged animals: responses with 201. */
  readonly acknowledged: readonly (readonly [name: string, id: number])[];
  /** Resolves when `count` more animals were acknowledged. */
  readonly acknowledgedMore: (count: number) => Promise<void>;
  /** Resolves when each client has its last response. */
  readonly stop: () => Promise<void>;
}

export interface CreatesOptions {
  /** The servers; each create is sent to a random one. */
  readonly origins: readonly string[];
  readonly apiKey: string;
  /** The prefix of all names. */
  readonly prefix: string;
  /** Counts the responses by status. */
  readonly statuses: Record<string, number>;
}

/** Clients that send each create once, and clients that repeat each create with its idempotency key until it gets 201. */
const clients = { once: 8, repeating: 4 };

/** Creates animals until it is stopped, whatever the responses are. No two have the same name. */
export function startCreates({ origins, apiKey, prefix, statuses }: CreatesOptions): Creates {
  const acknowledged: (readonly [string, number])[] = [];
  const stopping = new AbortController();

  async function create(name: string, key?: string): Promise<boolean> {
    const origin = origins[Math.floor(Math.random() * origins.length)];
    let status = 'no response';
    try {
      const response = await fetch(`${origin}/v1/pets`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${apiKey}`,
          'content-type': 'application/json',
          ...(key !== undefined && { 'idempotency-key': key }),
        },
        body: JSON.stringify({ name, categoryId: 1 }),
      });
      const body = (await response.json()) as Animal;
      status = String(response.status);
      if (response.status === 201) acknowledged.push([name, body.id]);
    } catch {
      // The outcome of the call is unknown.
    }
    statuses[status] = (statuses[status] ?? 0) + 1;
    return status === '201';
  }

  async function createOnce(client: number): Promise<void> {
    for (let each = 0; !stopping.signal.aborted; each += 1) {
      if (!(await create(`${prefix}-once-${client}-${each}`))) await sleep(10);
    }
  }

  async function createRepeatedly(client: number): Promise<void> {
    for (let each = 0; !stopping.signal.aborted; each += 1) {
      const name = `${prefix}-repeated-${client}-${each}`;
      await eventually(
        () => `a 201 for ${name}; the statuses so far are ${JSON.stringify(statuses)}`,
        () => create(name, name),
      );
    }
  }

  const running = Promise.all([
    ...Array.from({ length: clients.once }, (_, client) => createOnce(client)),
    ...Array.from({ length: clients.repeating }, (_, client) => createRepeatedly(client)),
  ]);
  // `stop` reports it.
  running.catch(() => {});
  return {
    acknowledged,
    async acknowledgedMore(count) {
      const wanted = acknowledged.length + count;
      await eventually(
        () => `${count} more creates with 201; the statuses so far are ${JSON.stringify(statuses)}`,
        () => acknowledged.length >= wanted,
      );
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
