import { initTRPC } from '@trpc/server';
import { expect, it } from 'vitest';
import { startShape } from '../startShape.ts';

const t = initTRPC.create();
const router = t.router({
  circular: t.procedure.query(() => {
    const value: { self?: object } = {};
    value.self = value;
    return value;
  }),
  fine: t.procedure.query(() => 1),
});

it('an output that cannot be encoded in JSON lines ends the response, and is reported to onError, trpc.onError and onResponse', async () => {
  const seen: string[] = [];
  const { origin, records, server } = await startShape(router, {
    onError: ({ error }) => seen.push(`onError ${error.code}`),
    trpc: { onError: ({ error }) => void seen.push(`trpc.onError ${error.code}`) },
  });
  const read = async () => {
    const headers = { 'trpc-accept': 'application/jsonl' };
    const response = await server.fetch(`${origin}/trpc/fine,circular?batch=1`, { headers });
    return response.text();
  };
  await expect(read()).rejects.toThrow(/terminated|circular|ECONNRESET/);
  await expect
    .poll(() => records)
    .toMatchObject([{ error: { message: expect.stringMatching(/circular|cyclic/) } }]);
  expect(seen).toEqual(['onError INTERNAL_SERVER_ERROR', 'trpc.onError INTERNAL_SERVER_ERROR']);
});
