/*
 * `routeHandler.ts WHO COUNT`: what a request of COUNT queries, from 2 on a batch, costs the route handler that Next calls:
 * `gateway.fetch`, or the fetch adapter of `trpc`. Prints microseconds of processor time.
 */
import { initTRPC } from '@trpc/server';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { createGateway } from 'trpc-gateway';
import { z } from 'zod';
import { median } from '../throughput.ts';
import { cpuMs } from './cpuMs.ts';

const requestsPerBlock = 200;
/** How long to measure, in milliseconds of processor time. In the first half, the JIT warms up: it may wait for a core. */
const measuredMs = 3000;

const t = initTRPC.create();
const Book = z.object({ id: z.int(), title: z.string(), tags: z.array(z.string()) });
const router = t.router({
  book: t.procedure
    .input(z.object({ id: z.int() }))
    .output(Book)
    .query(({ input: { id } }) => ({ id, title: 'Walden', tags: ['woods', 'pond'] })),
});
const createContext = () => ({});
const endpoint = '/api/trpc';

async function routeHandler(who: string | undefined): Promise<(request: Request) => Promise<Response>> {
  if (who === 'trpc') return (req) => fetchRequestHandler({ endpoint, req, router, createContext });
  const document = { title: 'Books', version: '1' };
  const gateway = await createGateway({ router, createContext, trpcBasePath: endpoint, document });
  return (request) => gateway.fetch(request);
}

function urlOf(count: number): string {
  const names = Array.from({ length: count }, () => 'book').join();
  const inputs = Object.fromEntries(Array.from({ length: count }, (_, id) => [id, { id }]));
  const query =
    count === 1 ? { input: JSON.stringify({ id: 0 }) } : { batch: '1', input: JSON.stringify(inputs) };
  return `http://localhost${endpoint}/${names}?${String(new URLSearchParams(query))}`;
}

const [, , who, count] = process.argv;
const handler = await routeHandler(who);
const url = urlOf(Number(count));
const times: number[] = [];
const startedAt = cpuMs();
for (let before = startedAt; before < startedAt + measuredMs; before = cpuMs()) {
  for (let request = 0; request < requestsPerBlock; request += 1) {
    const response = await handler(new Request(url));
    const text = await response.text();
    if (response.status !== 200) throw new Error(text);
  }
  times.push((1000 * (cpuMs() - before)) / requestsPerBlock);
}
process.stdout.write(String(median(times.slice(times.length / 2))));
