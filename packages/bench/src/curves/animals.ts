import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { animals, type PetStatus } from '@petstore/core';
import { openEmbeddedStore } from '@petstore/core/store/embedded';
import { apiKey, type CaseRequest } from '../cases.ts';
import { type ContenderProcess, startContender } from '../contenderProcess.ts';
import { contenders } from '../contenders.ts';
import { call } from '../httpResponse.ts';
import { type Curve, type CurveOptions, measurePoints, type Point } from './curve.ts';
import { perCore } from './perCore.ts';

/** How many creates run at once while a store is filled. */
const createsAtOnce = 10_000;

/** How many animals are sold, however many there are: the status that becomes rare. */
const soldCount = 100;

/** The status of an animal in a store of so many: most are available, one in ten is pending, one in ten has none. */
export function statusOf(id: number, count: number): PetStatus | undefined {
  if (id % (count / soldCount) === 0) return 'sold';
  if (id % 10 === 3) return 'pending';
  return id % 10 === 7 ? undefined : 'available';
}

/** Different requests in turn, as clients ask: one and the same page would be served from the processor's cache. */
const targetsOf = (ids: number, target: (id: number) => string) =>
  Array.from({ length: 1_000 }, (_, index) => target(Math.floor(((index * 0.618_034) % 1) * ids) + 1));

const pageSize = 20;

/** Pages from anywhere in the first part of the ids: behind it there is a full page of every status, in every store. */
const pagesOf = (query: string) => (count: number) =>
  targetsOf(count * 0.7, (id) => `/v1/pets?limit=${pageSize}${query}&cursor=${id}`);

const lines: Readonly<Record<string, (count: number) => readonly string[]>> = {
  'list of 20': () => [`/v1/pets?limit=${pageSize}`],
  'list of 20, any cursor': pagesOf(''),
  'list of 20 available, any cursor': pagesOf('&status=available'),
  'list of 20 pending (1 in 10), any cursor': pagesOf('&status=pending'),
  'list of 20 sold (100 in all), any cursor': pagesOf('&status=sold'),
  'GET one, any': (count) => targetsOf(count, (id) => `/v1/pets/${id}`),
};

/** How the embedded store's reads grow with the number of animals: all sizes side by side. */
export async function animalsCurve(options: CurveOptions): Promise<Curve> {
  const contender = contenders.find(({ name }) => name === 'server-embedded');
  if (contender === undefined) throw new Error('There is no contender with the embedded store.');
  const folder = await mkdtemp(join(tmpdir(), 'petstore-bench-animals-'));
  const servers: { readonly count: number; readonly process: ContenderProcess }[] = [];
  try {
    for (let count = 1_000; count <= options.maxAnimals; count *= 10) {
      const dataDir = join(folder, String(count));
      await fill(dataDir, count, options.onProgress);
      servers.push({ count, process: await startContender(contender, { dataDir }) });
    }
    const points: Point[] = [];
    for (const [line, targets] of Object.entries(lines)) {
      for (const { count, process } of servers) {
        await checkPages(process, targets(count));
        points.push({
          name: line,
          size: count,
          measure: async () => ({
            [line]: await perCore(process, {
              request: requestOf('/'),
              targets: targets(count),
              connections: 64,
              seconds: options.seconds,
            }),
          }),
        });
      }
    }
    for (const { measure } of points) await measure();
    return {
      title: 'Animals in the embedded store',
      unit: 'requests a second of one core',
      points: await measurePoints(points, options),
      isCompared: true,
    };
  } finally {
    for (const { process } of servers) await process.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function fill(dataDir: string, count: number, onProgress: CurveOptions['onProgress']): Promise<void> {
  const store = await openEmbeddedStore({ dataDir });
  const records = store.collection(animals);
  for (let from = 1; from <= count; from += createsAtOnce) {
    onProgress(`storing ${count.toLocaleString('en-US')} animals: ${Math.floor((from / count) * 100)}%`);
    const length = Math.min(createsAtOnce, count - from + 1);
    await Promise.all(
      Array.from({ length }, (_, index) => {
        const id = from + index;
        const status = statusOf(id, count);
        // Of one length: rows and responses must not grow with the number of animals.
        const animal = { name: `Animal number ${String(id).padStart(8, '0')}`, categoryId: id % 50 };
        return records.create(status === undefined ? animal : { ...animal, status });
      }),
    );
  }
  await store.close();
}

const requestOf = (path: string): CaseRequest => ({
  method: 'GET',
  path,
  headers: { authorization: `Bearer ${apiKey}` },
});

/** Pages that are not full would be less work in one store than in another. @throws {Error} where one is not */
async function checkPages({ port }: ContenderProcess, targets: readonly string[]): Promise<void> {
  for (const target of targets.slice(0, 100)) {
    const { status, body } = await call(port, requestOf(target));
    const response: unknown = JSON.parse(body);
    const isWhole = !Array.isArray(response) || response.length === pageSize;
    if (status !== 200 || !isWhole)
      throw new Error(`${target} was answered ${status}: ${body.slice(0, 200)}`);
  }
}
