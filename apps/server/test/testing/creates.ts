import { setTimeout as sleep } from 'node:timers/promises';
import type { Animal } from '@petstore/core';
import { eventually } from '@petstore/testing/eventually';
import { createPet, listPets } from './petCalls.ts';

export interface Creates {
  /** The acknowledged animals: responses with 201. */
  readonly acknowledged: readonly (readonly [name: string, id: number])[];
  /** Number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Resolves when `count` more animals were acknowledged. */
  readonly acknowledgedMore: (count: number) => Promise<void>;
  /** Resolves when each client has its last response. */
  readonly stop: () => Promise<void>;
}

/** Clients that send each create once, and clients that send several with one idempotency key until each gets 201. */
const clients = { once: 8, repeating: 4, repeats: 3 };

/** Creates animals at random origins until it is stopped, whatever the responses are. No two have the same name. */
export function startCreates(origins: readonly string[]): Creates {
  const acknowledged: (readonly [string, number])[] = [];
  const statuses: Record<string, number> = {};
  const stopping = new AbortController();

  async function create(name: string, key?: string): Promise<boolean> {
    const origin = origins[Math.floor(Math.random() * origins.length)] ?? '';
    // On a connection of its own: `fetch` sends a create again if a connection that it has used before is gone.
    const headers = { connection: 'close', ...(key !== undefined && { 'idempotency-key': key }) };
    let status = 'no response';
    try {
      const response = await createPet(origin, { name, categoryId: 1 }, { headers });
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
      if (!(await create(`once-${client}-${each}`))) await sleep(10);
    }
  }

  async function createRepeatedly(client: number): Promise<void> {
    for (let each = 0; !stopping.signal.aborted; each += 1) {
      const name = `repeated-${client}-${each}`;
      const acknowledge = () =>
        eventually(
          () => `a 201 for ${name}; the statuses so far are ${JSON.stringify(statuses)}`,
          () => create(name, name),
        );
      await Promise.all(Array.from({ length: clients.repeats }, acknowledge));
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
    statuses,
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

/** Lists every animal of a server, page by page. */
export async function listAll(origin: string): Promise<Animal[]> {
  const all: Animal[] = [];
  for (let page: Animal[] | undefined; page === undefined || page.length > 0;) {
    const response = await listPets(origin, { query: `?limit=100&cursor=${all.at(-1)?.id ?? 0}` });
    page = (await response.json()) as Animal[];
    all.push(...page);
  }
  return all;
}

/** Compares the acknowledged animals with the stored ones. @returns a sentence for each that is lost or stored twice */
export function problemsOf(
  { acknowledged, statuses }: Creates,
  stored: readonly Animal[],
): readonly string[] {
  const nameById = new Map(stored.map(({ id, name }) => [id, name]));
  const byName = Map.groupBy(stored, ({ name }) => name);
  const expected = new Set(['201', '503', '504', 'no response']);
  return [
    ...acknowledged
      .filter(([name, id]) => nameById.get(id) !== name)
      .map(([name, id]) => `${name} was acknowledged as animal ${id}, which is ${nameById.get(id)}.`),
    ...[...byName].filter(([, same]) => same.length > 1).map(([name]) => `${name} is stored twice.`),
    ...Object.keys(statuses)
      .filter((status) => !expected.has(status))
      .map((status) => `A create was answered with ${status}.`),
  ];
}
