import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { apiKey, batchOf, type CaseRequest } from '../cases.ts';
import { type ContenderProcess, startContender } from '../contenderProcess.ts';
import { type Contender, contenders } from '../contenders.ts';
import { type Curve, type CurveOptions, measurePoints, type Point, type PointResult } from './curve.ts';
import { perCore } from './perCore.ts';

const authorization = `Bearer ${apiKey}`;
const perCoreUnit = 'requests a second of one core';

const named = (...names: string[]): readonly Contender[] =>
  contenders.filter(({ name }) => names.includes(name));

const measuredOnce = (line: string, size: number, value: number): PointResult => ({
  line,
  size,
  value,
  spread: 0,
  rounds: [value],
});

/** One request against contenders, growing with a size. */
interface Growth {
  readonly title: string;
  readonly contenders: readonly Contender[];
  readonly sizes: readonly number[];
  readonly request: (size: number) => CaseRequest;
  readonly connections: (size: number) => number;
}

async function growingRequest(
  { title, contenders: measured, sizes, request, connections }: Growth,
  options: CurveOptions,
): Promise<Curve> {
  const processes: ContenderProcess[] = [];
  try {
    const points: Point[] = [];
    for (const contender of measured) {
      const process = await startContender(contender);
      processes.push(process);
      for (const size of sizes) {
        const load = {
          request: request(size),
          connections: connections(size),
          // Thousands of connections take seconds to be made.
          seconds: options.seconds + connections(size) / 2_000,
        };
        const measure = async () => ({ [contender.title]: await perCore(process, load) });
        points.push({ name: contender.title, size, measure });
      }
    }
    for (const { measure } of points) await measure();
    return { title, unit: perCoreUnit, points: await measurePoints(points, options) };
  } finally {
    for (const process of processes) await process.stop();
  }
}

const oneAnimal = (): CaseRequest => ({ method: 'GET', path: '/v1/pets/500', headers: { authorization } });

/** How throughput, and memory, change with the number of clients. */
export async function connectionsCurve(options: CurveOptions): Promise<Curve> {
  const sizes = [1, 10, 100, 1_000, 10_000];
  const curve = await growingRequest(
    {
      title: 'Connections, GET one',
      contenders: named('minimal', 'gateway'),
      sizes,
      request: oneAnimal,
      connections: (size) => size,
    },
    options,
  );
  const [gateway] = named('gateway');
  if (gateway === undefined) return curve;
  const value = await idleKilobytes(gateway, 10_000);
  const memory = measuredOnce(`${gateway.title}: kB of memory per idle connection`, 10_000, value);
  return { ...curve, points: [...curve.points, memory] };
}

/** What an idle connection adds to the server's resident memory, in kB (10³ bytes). */
async function idleKilobytes(contender: Contender, count: number): Promise<number> {
  const process = await startContender(contender);
  const sockets: Socket[] = [];
  try {
    await sleep(1_000);
    const before = await process.residentMb();
    for (let index = 0; index < count; index += 100) {
      const opened = Array.from({ length: 100 }, () => connect(process.port, '127.0.0.1'));
      sockets.push(...opened);
      await Promise.all(opened.map((socket) => once(socket, 'connect')));
    }
    await sleep(500);
    return (((await process.residentMb()) - before) * 1000) / count;
  } finally {
    for (const socket of sockets) socket.destroy();
    await process.stop();
  }
}

/** How a batch of tRPC queries grows with its calls. */
export const batchCurve = (options: CurveOptions): Promise<Curve> =>
  growingRequest(
    {
      title: 'Calls in a tRPC batch',
      contenders: named('minimal', 'gateway', 'trpc'),
      sizes: [1, 3, 10, 30, 100],
      request: (size) => batchOf(size).request,
      connections: () => 64,
    },
    options,
  );

/** The time of a POST by the size of its body: the body has a large unknown field, which is read and then dropped. */
export const bodyCurve = (options: CurveOptions): Promise<Curve> =>
  growingRequest(
    {
      title: 'Bytes of a POST’s body',
      contenders: named('minimal', 'gateway', 'fastify'),
      sizes: [100, 1_000, 10_000, 100_000, 1_000_000],
      request: (size) => {
        const body = { name: 'Rex', categoryId: 1, unknown: '' };
        body.unknown = 'x'.repeat(Math.max(size - JSON.stringify(body).length, 0));
        return {
          method: 'POST',
          path: '/v1/pets',
          headers: { authorization, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        };
      },
      connections: () => 16,
    },
    options,
  );

/** What a large router costs: the procedures that are not called. */
export async function proceduresCurve(options: CurveOptions): Promise<Curve> {
  const [gateway] = named('gateway');
  if (gateway === undefined) throw new Error('There is no contender named gateway.');
  const processes: ContenderProcess[] = [];
  try {
    const points: Point[] = [];
    const starts: PointResult[] = [];
    for (const size of [3, 10, 100, 300, 1_000]) {
      const process = await startContender(gateway, {
        environment: { BENCH_MORE_PROCEDURES: String(size - 3) },
      });
      processes.push(process);
      await sleep(1_000);
      starts.push(
        measuredOnce('start to first response, ms (from source)', size, process.startMs),
        measuredOnce('idle memory, MB (from source)', size, await process.residentMb()),
      );
      for (const [line, path] of [
        ['GET one', '/v1/pets/500'],
        ['tRPC query', `/trpc/getPet?input=${encodeURIComponent('{"petId":500}')}`],
      ] as const) {
        const load = { request: { ...oneAnimal(), path }, connections: 64, seconds: options.seconds };
        const measure = async () => ({ [line]: await perCore(process, load) });
        points.push({ name: line, size, measure });
      }
    }
    for (const { measure } of points) await measure();
    const measured = await measurePoints(points, options);
    return { title: 'Procedures of the router', unit: perCoreUnit, points: [...measured, ...starts] };
  } finally {
    for (const process of processes) await process.stop();
  }
}
