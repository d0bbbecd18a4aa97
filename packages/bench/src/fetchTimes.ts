// `npm run bench:fetch -w @petstore/bench`: `gateway.fetch` beside tRPC's own fetch adapter, a query of the same router, in this process.
import { createGateway } from 'trpc-gateway';
import { initTRPC } from '@trpc/server';
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { z } from 'zod';
import { median } from './statistics.ts';

const rounds = 7;
const callsPerRound = 10_000;
/** Calls between two turns of the event loop: undici (6) lets go of requests in a later turn only. */
const callsPerTurn = 500;

const animals = Array.from({ length: 1000 }, (_, id) => ({ id, name: `Animal ${id}`, status: 'available' }));
const store = { get: (id: number) => animals[id] };

const t = initTRPC.context<{ readonly store: typeof store }>().create({ isDev: false });
const procedure = t.procedure.input(z.object({ id: z.int() }));
const router = t.router({
  sync: procedure.query(({ ctx, input }) => ctx.store.get(input.id)),
  async: procedure
    .use(({ next, path }) => next({ ctx: { path } }))
    .query(async ({ ctx, input }) => ctx.store.get(input.id)),
});

const createContext = () => ({ store });
const document = { title: 'Animals', version: '1.0.0' };
const gateway = await createGateway({ router, createContext, document });

type ReceivedResponse = (request: Request) => Promise<Response>;
const adapters: Readonly<Record<string, ReceivedResponse>> = {
  gateway: gateway.fetch,
  trpc: (req) => fetchRequestHandler({ req, router, endpoint: '/trpc', createContext }),
};

const headers = { accept: 'application/json', 'user-agent': 'bench', 'x-forwarded-for': '192.0.2.1' };
const input = encodeURIComponent(JSON.stringify({ id: 500 }));
const request = (path: string) => new Request(`http://localhost/trpc/${path}?input=${input}`, { headers });

/** The measured parts of a call: each returns the processor time of some calls, in microseconds. */
const parts = {
  /** From a `Request` to its `Response`: a server has the one, and takes the other. */
  'a Response': async (response: ReceivedResponse, path: string, calls: number) => {
    const requests = Array.from({ length: calls }, () => request(path));
    return processorTime(async () => {
      for (const each of requests) await response(each);
    });
  },
  /** With the `Request` made and the body read, as by a client in this process. */
  'all of it': (received: ReceivedResponse, path: string, calls: number) =>
    processorTime(async () => {
      for (let call = 0; call < calls; call += 1) await (await received(request(path))).text();
    }),
};

async function processorTime(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

const rows = Object.keys(router._def.procedures).flatMap((path) =>
  Object.entries(parts).map(([part, measure]) => ({ path, part, measure })),
);
const times = rows.map(() => ({ gateway: [] as number[], trpc: [] as number[] }));
for (let round = 0; round < rounds; round += 1) {
  for (const [row, { measure, path }] of rows.entries()) {
    for (const name of ['gateway', 'trpc'] as const) {
      let time = 0;
      for (let calls = 0; calls < callsPerRound; calls += callsPerTurn) {
        time += await measure(adapters[name] as ReceivedResponse, path, callsPerTurn);
        await new Promise(setImmediate);
      }
      times[row]?.[name].push(time / callsPerRound);
    }
  }
}

const resolvers: Readonly<Record<string, string>> = { sync: 'sync', async: 'async, one middleware' };
const lines = [
  '| resolver | measured | gateway.fetch | fetchRequestHandler | times |',
  '| --- | --- | --- | --- | --- |',
];
for (const [row, { part, path }] of rows.entries()) {
  const { gateway: own = [], trpc: theirs = [] } = times[row] ?? {};
  const cells = [own, theirs].map((list) => `${median(list).toFixed(1)} µs`);
  const ratio = (median(theirs) / median(own)).toFixed(1);
  lines.push(`| ${resolvers[path]} | ${part} | ${cells.join(' | ')} | ${ratio} |`);
}
process.stdout.write(`${lines.join('\n')}\n`);
