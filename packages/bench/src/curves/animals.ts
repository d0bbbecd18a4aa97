import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedStore } from '@petstore/core/store/embedded';
import { apiKey, type CaseRequest } from '../cases.ts';
import { type ContenderProcess, startContender } from '../contenderProcess.ts';
import { contenders } from '../contenders.ts';
import { wrk } from '../load/wrk.ts';
import { seededAnimal } from '../petStore/animals.ts';
import { type Curve, type CurveOptions, measurePoints, type Point } from './curve.ts';

/** How many creates run at once while a store is filled. */
const createsAtOnce = 10_000;

/** One animal in so many is sold: the status that is rare. */
const rareEvery = 1_000;

/** Different requests in turn, as clients ask: one and the same page would be served from the processor's cache. */
const targetsOf = (count: number, target: (id: number) => string) =>
  Array.from({ length: 1_000 }, (_, index) =>
    target(Math.floor(((index * 0.618_034) % 1) * (count - 100)) + 1),
  );

const lines: Readonly<Record<string, (count: number) => readonly string[]>> = {
  'list of 20': () => ['/v1/pets?limit=20'],
  'list of 20, any cursor': (count) => targetsOf(count, (id) => `/v1/pets?limit=20&cursor=${id}`),
  'list of 20, a rare status, any cursor': (count) =>
    targetsOf(count, (id) => `/v1/pets?limit=20&status=sold&cursor=${id}`),
  'GET one, any': (count) => targetsOf(count, (id) => `/v1/pets/${id}`),
};

/** How the embedded store's reads grow with the number of animals: all sizes side by side. */
export async function animalsCurve(options: CurveOptions): Promise<Curve> {
  const contender = contenders.find(({ name }) => name === 'server-embedded');
  if (contender === undefined) throw new Error('There is no contender with the embedded store.');
  const folder = await mkdtemp(join(tmpdir(), 'petstore-bench-animals-'));
  const processes: ContenderProcess[] = [];
  try {
    const points: Point[] = [];
    for (let count = 1_000; count <= options.maxAnimals; count *= 10) {
      options.onProgress(`storing ${count} animals`);
      const dataDir = join(folder, String(count));
      await fill(dataDir, count);
      const process = await startContender(contender, { dataDir });
      processes.push(process);
      for (const [line, targets] of Object.entries(lines)) {
        points.push({ line, size: count, measure: () => perCore(process, targets(count), options.seconds) });
      }
    }
    for (const { measure } of points) await measure();
    const title = 'Animals in the embedded store';
    return { title, unit: 'requests a second of one core', points: await measurePoints(points, options) };
  } finally {
    for (const process of processes) await process.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function fill(dataDir: string, count: number): Promise<void> {
  const store = await openEmbeddedStore({ dataDir });
  for (let from = 1; from <= count; from += createsAtOnce) {
    const length = Math.min(createsAtOnce, count - from + 1);
    await Promise.all(
      Array.from({ length }, (_, index) => {
        const { name, categoryId } = seededAnimal(from + index);
        const status = (from + index) % rareEvery === 0 ? 'sold' : 'available';
        return store.create({ name, categoryId, status });
      }),
    );
  }
  await store.close();
}

async function perCore(
  process: ContenderProcess,
  targets: readonly string[],
  seconds: number,
): Promise<number> {
  const request: CaseRequest = {
    method: 'GET',
    path: targets[0] ?? '/',
    headers: { authorization: `Bearer ${apiKey}` },
  };
  const before = await process.processorSeconds();
  const { requests } = await wrk({
    port: process.port,
    request,
    targets,
    connections: 64,
    seconds,
    isRefused: false,
  });
  return requests / ((await process.processorSeconds()) - before);
}
