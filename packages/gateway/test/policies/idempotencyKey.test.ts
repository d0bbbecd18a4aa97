import { randomUUID } from 'node:crypto';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { initTRPC } from '@trpc/server';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { startShape } from '../startShape.ts';

const t = initTRPC.meta<GatewayMeta>().create();
const router = t.router({
  pay: t.procedure.meta({ idempotencyKey: 'required' }).mutation(() => 'paid'),
  note: t.procedure.meta({ idempotencyKey: 'optional' }).mutation(() => 'noted'),
  print: t.procedure
    .meta({ idempotencyKey: 'optional', openapi: { method: 'POST', path: '/prints', successStatus: 201 } })
    .input(z.object({ text: z.string() }))
    .output(z.object({ run: z.string(), length: z.int() }))
    .mutation(({ input }) => ({ run: randomUUID(), length: input.text.length })),
});

it.each(['/v1/prints', '/trpc/print'])(
  'the response of POST %s to an Idempotency-Key is replayed, also if its body arrives in many chunks beside other requests',
  async (target) => {
    const { origin, server } = await startShape(router);
    const print = async (key: string, text: string) => {
      const response = await server.fetch(`${origin}${target}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify({ text }),
      });
      return [response.status, response.headers.get('idempotent-replayed'), await response.text()] as const;
    };
    const all = () =>
      Promise.all(['a', 'b'.repeat(300_000), 'c'].map((text) => print(text.slice(0, 9), text)));
    const first = await all();
    expect(first.map(([, replayed]) => replayed)).toEqual([null, null, null]);
    expect(await all()).toEqual(first.map(([status, , body]) => [status, 'true', body]));
    expect((await print('a', 'b'))[0]).toBe(422);
  },
);

it('a call on a WebSocket of a procedure that requires an Idempotency-Key is rejected with 400, because a message has no headers', async () => {
  const client = (await startShape(router)).socketTrpc();
  await expect(client.pay.mutate()).rejects.toThrow('Idempotency-Key: is required.');
  expect(await client.note.mutate()).toBe('noted');
});
