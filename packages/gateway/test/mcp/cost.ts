/*
 * Compares the processor time of a tool call with that of a REST POST with the same input, through `gateway.fetch`:
 * `npm run bench:mcp -w trpc-gateway-test`. It prints the ratio of each round, and exits with 1 if the median is below
 * the goal. The rounds alternate, so that a busy machine slows both.
 */
import { initTRPC } from '@trpc/server';
import { createGateway } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import type { GatewayMeta } from 'trpc-gateway/meta';
import { z } from 'zod';
import { currentHeaders, currentMeta } from './messages.ts';

/** The least part of a REST POST's speed that a tool call should have. */
const goal = 0.8;
const calls = 20_000;
const rounds = 15;

const t = initTRPC.meta<GatewayMeta>().create({ isDev: false });
const fields = { name: z.string(), categoryId: z.int(), status: z.enum(['available', 'sold']) };
const { fetch } = await createGateway({
  router: t.router({
    createPet: t.procedure
      .meta({ openapi: { method: 'POST', path: '/pets' }, mcp: { description: 'A tool of the tests.' } })
      .input(z.object(fields))
      .output(z.object({ id: z.int(), ...fields }))
      .mutation(({ input }) => ({ id: 1, ...input })),
  }),
  createContext: () => ({}),
  document: { title: 'Pets', version: '1.0.0' },
  mcp: mcp(),
});

const pet = { name: 'Rex', categoryId: 1, status: 'available' };
const json = { 'content-type': 'application/json' };
const message = (params: object) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'createPet', arguments: pet, ...params },
  });

interface Kind {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const rest: Kind = { path: '/v1/pets', headers: json, body: JSON.stringify(pet) };
const kinds: Readonly<Record<string, Kind>> = {
  '2026-07-28': {
    path: '/mcp',
    headers: { ...json, ...currentHeaders('tools/call', 'createPet') },
    body: message({ _meta: currentMeta }),
  },
  '2025-11-25': {
    path: '/mcp',
    headers: { ...json, 'mcp-protocol-version': '2025-11-25' },
    body: message({}),
  },
};

/** Sends calls, one after the other. Returns their processor time in milliseconds. */
async function measure({ path, headers, body }: Kind): Promise<number> {
  const before = process.cpuUsage();
  for (let call = 0; call < calls; call += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const response = await fetch(`http://localhost${path}`, { method: 'POST', headers, body });
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const text = await response.text();
    if (!response.ok || !text.includes('"id":1'))
      throw new Error(`${path} answered ${response.status}: ${text}`);
  }
  const { system, user } = process.cpuUsage(before);
  return (system + user) / 1000;
}

let isBelow = false;
for (const [revision, kind] of Object.entries(kinds)) {
  const ratios: number[] = [];
  for (let round = -1; round < rounds; round += 1) {
    // oxlint-disable-next-line no-await-in-loop -- alternating
    const [ofRest, ofTool] = [await measure(rest), await measure(kind)];
    // The first round compiles.
    if (round >= 0) ratios.push(ofRest / ofTool);
  }
  const sorted = ratios.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(rounds / 2)] ?? 0;
  const range = `${sorted[0]?.toFixed(2)} to ${sorted.at(-1)?.toFixed(2)}`;
  process.stdout.write(`tools/call of ${revision}: ${median.toFixed(2)} of a REST POST (${range})\n`);
  isBelow ||= median < goal;
}
process.exitCode = isBelow ? 1 : 0;
