import { initTRPC } from '@trpc/server';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { GatewayMeta } from '../procedures/meta.ts';
import type { RequestRecord } from './requestRecord.ts';
import { testGateway } from '../testing/testGateway.ts';

const t = initTRPC.meta<GatewayMeta>().create();
const cause = new Error('disk on fire');
/** The error itself, or the TRPCError that has its message. */
const thrown: unknown = expect.objectContaining({ message: cause.message });
const router = t.router({
  get: t.procedure
    .meta({ openapi: { method: 'GET', path: '/pets/{name}' } })
    .input(z.object({ name: z.string() }))
    .output(z.string())
    .query(({ input }) => input.name),
  save: t.procedure
    .meta({ openapi: { method: 'POST', path: '/pets' } })
    .input(z.object({ name: z.string() }))
    .output(z.string())
    .mutation(({ input }) => input.name),
  photo: t.procedure
    .meta({ openapi: { method: 'GET', path: '/photo', produces: 'image/png' } })
    .query(() => new Uint8Array(5)),
  drip: t.procedure
    .meta({ openapi: { method: 'GET', path: '/drip', produces: 'text/plain' } })
    .query(async function* () {
      yield new Uint8Array(3);
      throw cause;
    }),
  broken: t.procedure.query(() => {
    throw cause;
  }),
});

const id = 'request-7';
const rest = { requestId: id, protocol: 'rest', calls: 1, status: 200, bytesIn: 0, isStream: false };
const json = { 'content-type': 'application/json' };

it.each<[method: string, target: string, expected: Partial<RequestRecord>, body?: string]>([
  [
    'GET',
    '/v1/pets/a%C3%A4?secret=1',
    { path: '/v1/pets/a%C3%A4', operation: 'get', procedures: ['get'], bytesOut: 5 },
  ],
  ['POST', '/v1/pets', { operation: 'save', procedures: ['save'], bytesIn: 13, bytesOut: 4 }, '{"name":"ä"}'],
  ['POST', '/v1/pets', { operation: 'save', status: 400, bytesIn: 2 }, '{}'],
  ['GET', '/v1/photo', { operation: 'photo', procedures: ['photo'], bytesOut: 5 }],
  ['GET', '/v1/drip', { operation: 'drip', isStream: true, bytesOut: undefined, error: thrown }],
  ['GET', '/v1/nowhere', { path: '/v1/nowhere', operation: undefined, procedures: [], status: 404 }],
  ['GET', '/trpc/broken', { protocol: 'trpc', operation: 'broken', status: 500, error: thrown }],
  [
    'GET',
    '/trpc/broken,gone?batch=1',
    {
      protocol: 'trpc',
      calls: 2,
      operation: 'broken,gone',
      procedures: ['broken'],
      status: 207,
      error: thrown,
    },
  ],
])(
  'the record of %s %s has the procedures, calls, status and bytes of the request: case %#',
  async (method, target, expected, body) => {
    const records: RequestRecord[] = [];
    const { fetch } = await testGateway(router, {
      onResponse: (record) => records.push(record),
    });
    const response = await fetch(`http://localhost${target}`, {
      method,
      headers: { 'x-request-id': id, ...(body !== undefined && json) },
      ...(body !== undefined && { body }),
    });
    await response.text().catch(() => {});
    await expect.poll(() => records).toHaveLength(1);
    expect(records).toMatchObject([{ ...rest, method, error: undefined, limit: undefined, ...expected }]);
    expect(records[0]?.durationMs).toBeGreaterThan(0);
  },
);
