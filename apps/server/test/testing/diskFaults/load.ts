import { setTimeout as sleep } from 'node:timers/promises';

const writers = 6;
/** Interval of the requests to `/readyz`. */
const probeMs = 25;

export interface Load {
  /** The names of animals that were acknowledged with 201. */
  readonly acknowledged: ReadonlySet<string>;
  /** The times at which `/readyz` was not 200 or did not respond, in milliseconds since the epoch. */
  readonly notReady: readonly number[];
  /** Resolves when `count` more animals were acknowledged. */
  readonly acknowledgedMore: (count: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Creates animals until it is stopped, whatever the responses are, and polls `/readyz`. */
export function startLoad(origin: string, apiKey: string): Load {
  const acknowledged = new Set<string>();
  const notReady: number[] = [];
  const stopController = new AbortController();
  const { signal } = stopController;

  async function write(writer: number): Promise<void> {
    for (let each = 0; !signal.aborted; each += 1) {
      const name = `${writer}/${each}`;
      const status = await fetch(`${origin}/v1/pets`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name, categoryId: each }),
        signal,
      }).then(
        async (response) => (await response.text(), response.status),
        () => 0,
      );
      if (status === 201) acknowledged.add(name);
      else await sleep(10);
    }
  }

  async function probe(): Promise<void> {
    while (!signal.aborted) {
      const status = await fetch(`${origin}/readyz`, { signal }).then(
        async (received) => (await received.text(), received.status),
        () => 0,
      );
      if (status !== 200 && !signal.aborted) notReady.push(Date.now());
      await sleep(probeMs);
    }
  }

  const running = Promise.all([...Array.from({ length: writers }, (_, writer) => write(writer)), probe()]);
  return {
    acknowledged,
    notReady,
    async acknowledgedMore(count) {
      const wanted = acknowledged.size + count;
      while (acknowledged.size < wanted && !signal.aborted) await sleep(5);
    },
    stop: async () => {
      stopController.abort();
      await running;
    },
  };
}
