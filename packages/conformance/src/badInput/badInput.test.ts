import type { Animal } from '@petstore/core';
import { sendUnchecked, seedMessage } from 'trpc-gateway-test';
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

/** The number of concurrent requests. */
const concurrency = 16;
/** The maximum duration of a request, in milliseconds. */
const timeoutMs = 5000;

const inputKinds: readonly (readonly [name: string, requests: fc.Arbitrary<BadRequest>, count: number])[] = [
  ['bodies', badBodies, inputs(3000)],
  ['queries', badQueries, inputs(2500)],
  ['paths', badPaths, inputs(2500)],
  ['headers', badHeaders, inputs(2500)],
];

describe('invalid input', () => {
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
    const pendingResponse = sendUnchecked(
      agent,
      served.client.origin,
      method,
      target,
      headers,
      body,
      chunked,
    );
    const response = await Promise.race([pendingResponse, sleep(timeoutMs, undefined, { ref: false })]);
    if (response === undefined) throw new Error(`There was no response within ${timeoutMs} ms.`);
    return response;
  }

  it.each(inputKinds)(
    'every response to invalid %s is documented, has an X-Request-Id and leaks nothing',
    async (name, requests, count) => {
      const pending = sample(requests, count).entries();
      const statuses = new Map<string, number>();
      const reports: string[] = [];
      const work = async () => {
        // The workers share one iterator: each takes the next request.
        for (const [index, request] of pending) {
          try {
            const received = await send(request);
            const verdict = laws(request, received);
            const status =
              verdict.from === 'gateway' ? `${received.status}` : `${received.status} by the parser`;
            statuses.set(status, (statuses.get(status) ?? 0) + 1);
            for (const animal of verdict.created) created.set(animal.id, animal);
            if (verdict.problems.length === 0) continue;
            reports.push(
              `${index}: ${show(request)}\n  answered ${received.status}: ${verdict.problems.join(' ')}`,
            );
          } catch (error) {
            reports.push(`${index}: ${show(request)}\n  failed: ${String(error)}`);
          }
        }
      };
      await Promise.all(Array.from({ length: concurrency }, work));
      const statusCounts = [...statuses]
        .toSorted(([a], [b]) => a.localeCompare(b))
        .map(([status, times]) => `${times} × ${status}`);
      counts.push(`${count} ${name}: ${statusCounts.join(', ')}`);
      expect(reports.slice(0, 5), `${reports.length} of ${count} ${name}; ${seedMessage}`).toEqual([]);
    },
    60_000,
  );

  it('a body of depth 1,500 and width 450,000 is answered in time', async () => {
    // A parser that keeps the path to each value needs memory for depth times width.
    const [depth, width] = [1500, 450_000];
    const deep = `${'['.repeat(depth)}1e400${',1'.repeat(width)}${']'.repeat(depth)}`;
    const body = Buffer.from(`{"name":"Ada","categoryId":1,"deep":${deep}}`);
    for (const target of ['/v1/pets', '/trpc/createPet']) {
      const request = { method: 'POST', target, headers: [authorization, contentTypeJson], body };
      const verdict = laws(request, await send(request));
      for (const animal of verdict.created) created.set(animal.id, animal);
      expect(verdict).toMatchObject({ from: 'gateway', problems: [] });
    }
  });

  it('the store contains exactly the animals that responses reported as created', async () => {
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
