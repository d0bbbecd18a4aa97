import { expect, it } from 'vitest';
import { z } from 'zod';
import { t, testGateway } from '../testing/testGateway.ts';
import type { RequestRecord } from './requestRecord.ts';

// The rest of a record is tested in packages/gateway/test/hooks.

const router = t.router({
  get: t.procedure
    .meta({ openapi: { method: 'GET', path: '/pets/{name}' } })
    .input(z.object({ name: z.string() }))
    .output(z.string())
    .query(({ input }) => input.name),
  photo: t.procedure
    .meta({ openapi: { method: 'GET', path: '/photo', produces: 'image/png' } })
    .query(() => new Uint8Array(5)),
});

it.each(['/v1/pets/a%C3%A4', '/v1/photo'])(
  'the record of GET %s has its path as it was sent, its duration and the bytes of its body',
  async (path) => {
    const records: RequestRecord[] = [];
    const { fetch } = await testGateway(router, { onResponse: (record) => records.push(record) });
    await (await fetch(`http://localhost${path}?secret=1`)).arrayBuffer();
    expect(records).toMatchObject([{ path, bytesOut: 5 }]);
    expect(records[0]?.durationMs).toBeGreaterThan(0);
  },
);
