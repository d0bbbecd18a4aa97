import { collections, type Animal, type Store } from '@petstore/core';
import { openEmbeddedStore } from '@petstore/embedded-store';
import { inputs } from '@petstore/testing/forms';
import * as fc from 'fast-check';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listen, type Server, seedMessage, sendUnchecked, testSeed } from 'trpc-gateway-test';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfiguration } from '../../../src/configuration/configuration.ts';
import { createPetStoreGateway } from '../../../src/gateway.ts';
import { connect } from '../client.ts';
import {
  apiKey,
  authorization,
  badBodies,
  type BadRequest,
  badTargets,
  contentTypeJson,
  show,
} from './badRequest.ts';
import { type ResponseLaws, responseLaws } from './responseLaws.ts';

/** The number of concurrent requests. */
const concurrency = 16;

describe('invalid input', () => {
  let dataDir: string;
  let store: Store & { close(): Promise<void> };
  let listening: Server;
  let laws: ResponseLaws;
  const agent = new Agent({ keepAlive: true, timeout: 3000 });
  const created = new Map<number, Animal>();

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'petstore-'));
    store = await openEmbeddedStore({ dataDir, collections });
    // On a busy machine, requests wait longer than the default allows.
    const configuration = readConfiguration({ MAX_QUEUE_MS: '60000' });
    const gateway = await createPetStoreGateway(configuration, {
      store,
      verify: (token) => (token === apiKey ? { name: 'bad input', hash: 'hash' } : undefined),
    });
    listening = await listen(gateway);
    const { document } = await connect({ origin: `http://127.0.0.1:${listening.port}`, apiKey });
    laws = responseLaws(document, [dataDir, apiKey, 'node_modules']);
  });
  afterAll(async () => {
    await listening.close();
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** Sends a request, keeps the animals that its response reports as created, and returns its problems. */
  async function problemsOf(request: BadRequest): Promise<readonly string[]> {
    const { method, target, headers, body, chunked = false } = request;
    const origin = `http://127.0.0.1:${listening.port}`;
    const response = await sendUnchecked(agent, origin, method, target, headers, body, chunked);
    const verdict = laws(request, response);
    for (const animal of verdict.created) created.set(animal.id, animal);
    return verdict.problems.map((problem) => `answered ${response.status}: ${problem}`);
  }

  it.each([
    ['bodies', badBodies, inputs(2000)],
    ['paths and queries', badTargets, inputs(2000)],
  ])(
    'every response to invalid %s is documented, has an X-Request-Id and leaks nothing',
    async (name, requests, count) => {
      const pending = fc.sample(requests, { seed: testSeed, numRuns: count }).values();
      const reports: string[] = [];
      const work = async () => {
        // The workers share one iterator: each takes the next request.
        for (const request of pending) {
          const problems = await problemsOf(request).catch((error: unknown) => [`failed: ${String(error)}`]);
          if (problems.length > 0) reports.push([show(request), ...problems].join('\n  '));
        }
      };
      await Promise.all(Array.from({ length: concurrency }, work));
      expect(reports.slice(0, 5), `${reports.length} of ${count} ${name}; ${seedMessage}`).toEqual([]);
    },
  );

  it('a body of depth 1,500 and width 450,000 is answered in time', async () => {
    // A parser that keeps the path to each value needs memory for depth times width.
    const [depth, width] = [1500, 450_000];
    const deep = `${'['.repeat(depth)}1e400${',1'.repeat(width)}${']'.repeat(depth)}`;
    const body = Buffer.from(`{"name":"Ada","categoryId":1,"deep":${deep}}`);
    for (const target of ['/v1/pets', '/trpc/createPet']) {
      const headers = [authorization, contentTypeJson];
      const problems = await problemsOf({ method: 'POST', target, headers, body });
      expect(problems).toEqual([]);
    }
  });

  it('the store contains exactly the animals that responses reported as created', async () => {
    const client = await connect({ origin: `http://127.0.0.1:${listening.port}`, apiKey });
    const animals: Animal[] = [];
    for (let page = await client.list('?limit=100'); page.length > 0;) {
      animals.push(...page);
      page = await client.list(`?limit=100&cursor=${page.at(-1)?.id}`);
    }
    expect(animals).toEqual([...created.values()].toSorted((a, b) => a.id - b.id));
    expect(animals.length).toBeGreaterThan(inputs(300));
    expect((await client.create({})).name).toBe('Rex');
  });
});
