import type { Animal } from '@petstore/core';
import { sendUnchecked, seedMessage } from '@petstore/gateway-test';
import { inputs } from '@petstore/testing/forms';
import type * as fc from 'fast-check';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { linkTarget } from '../link.ts';
import { type ResponseLaws, responseLaws } from './responseLaws.ts';
import { badBodies } from './badBodies.ts';
import { badHeaders } from './badHeaders.ts';
import { authorization, type BadRequest, contentTypeJson, show } from './badRequest.ts';
import { badPaths, badQueries } from './badTargets.ts';
import { sample } from './sample.ts';
import { type ServedStore, serveStore } from './servedStore.ts';

/** How many requests are under way at once, in milliseconds how long one may take. */
const atOnce = 16;
const patience = 5000;

const families: readonly (readonly [name: string, requests: fc.Arbitrary<BadRequest>, count: number])[] = [
  ['bodies', badBodies, inputs(3000)],
  ['queries', badQueries, inputs(2500)],
  ['paths', badPaths, inputs(2500)],
  ['headers', badHeaders, inputs(2500)],
];

describe('bad input', () => {
  let served: ServedStore;
  let laws: ResponseLaws;
  const agent = new Agent({ keepAlive: true, timeout: 3000 });
  const created = new Map<number, Animal>();
  const counts: string[] = [];

  beforeAll(async () => {
    served = await serveStore();
    laws = responseLaws(served.client.document, served.secrets);
  });
  afterAll(async () => {
    await served.close();
    process.stdout.write(`Bad input: ${counts.join('; ')}.\n`);
  });

  async function send({ method, target, headers, body, chunked = false }: BadRequest) {
    const answered = sendUnchecked(agent, served.client.origin, method, target, headers, body, chunked);
    const response = await Promise.race([answered, sleep(patience, undefined, { ref: false })]);
    if (response === undefined) throw new Error(`There was no answer within ${patience} ms.`);
    return response;
  }

  it.each(families)(
    'in %s is answered as every answer is',
    async (name, requests, count) => {
      const pending = sample(requests, count).entries();
      const statuses = new Map<string, number>();
      const faults: string[] = [];
      const work = async () => {
        // Each worker takes the next request that nobody has taken.
        for (const [index, request] of pending) {
          try {
            const received = await send(request);
            const verdict = laws(request, received);
            const status = verdict.from === 'us' ? `${received.status}` : `${received.status} by the parser`;
            statuses.set(status, (statuses.get(status) ?? 0) + 1);
            for (const animal of verdict.created) created.set(animal.id, animal);
            if (verdict.faults.length === 0) continue;
            faults.push(
              `${index}: ${show(request)}\n  answered ${received.status}: ${verdict.faults.join(' ')}`,
            );
          } catch (error) {
            faults.push(`${index}: ${show(request)}\n  failed: ${String(error)}`);
          }
        }
      };
      await Promise.all(Array.from({ length: atOnce }, work));
      const seen = [...statuses]
        .toSorted(([a], [b]) => a.localeCompare(b))
        .map(([status, times]) => `${times} × ${status}`);
      counts.push(`${count} ${name}: ${seen.join(', ')}`);
      expect(faults.slice(0, 5), `${faults.length} of ${count} ${name}; ${seedMessage}`).toEqual([]);
    },
    60_000,
  );

  it('in a body that is deep and wide at once costs what its bytes cost', async () => {
    // Whoever keeps the way to each of its values needs memory for their product.
    const [depth, width] = [1500, 450_000];
    const deep = `${'['.repeat(depth)}1e400${',1'.repeat(width)}${']'.repeat(depth)}`;
    const body = Buffer.from(`{"name":"Ada","categoryId":1,"deep":${deep}}`);
    for (const target of ['/v1/pets', '/trpc/createPet']) {
      const request = { method: 'POST', target, headers: [authorization, contentTypeJson], body };
      const verdict = laws(request, await send(request));
      for (const animal of verdict.created) created.set(animal.id, animal);
      expect(verdict).toMatchObject({ from: 'us', faults: [] });
    }
  });

  it('leaves in the store what was answered as created, whole, and nothing else', async () => {
    const stored: Animal[] = [];
    for (let target: string | undefined = '/v1/pets?limit=100'; target !== undefined;) {
      const response = await served.client.get(target);
      stored.push(...response.animals());
      target = linkTarget(response.header('link'), 'next');
    }
    expect(stored).toEqual([...created.values()].toSorted((a, b) => a.id - b.id));
    expect(stored.length).toBeGreaterThan(inputs(500));
  });
});
