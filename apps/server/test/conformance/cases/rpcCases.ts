import type { AppRouter } from '@petstore/core';
import { createTRPCClient, httpBatchLink, TRPCClientError } from '@trpc/client';
import { expect, it } from 'vitest';
import type { Subject } from '../subject.ts';

/**
 * Declares the cases about `/trpc`: docs/decisions.md#trpc. The gateway's suites compare the other behaviour with the
 * official adapter, byte by byte.
 */
export function rpcCases(subject: Subject): void {
  it('docs/decisions.md#trpc: @trpc/client creates, lists and gets animals, and narrows an error by data.code', async () => {
    const { origin, apiKey } = subject.client;
    const headers = { authorization: `Bearer ${apiKey}` };
    const client = createTRPCClient<AppRouter>({
      links: [httpBatchLink({ url: `${origin}/trpc`, headers })],
    });
    const animal = await client.createPet.mutate({ name: 'Ada', categoryId: 3, status: 'pending' });
    expect(animal).toEqual({ id: expect.any(Number), name: 'Ada', categoryId: 3, status: 'pending' });
    const unknown = client.getPet.query({ petId: Number.MAX_SAFE_INTEGER });
    // Concurrent calls: httpBatchLink sends them as one batch.
    const [one, page, error] = await Promise.all([
      client.getPet.query({ petId: animal.id }),
      client.listPets.query({ cursor: animal.id - 1, limit: 1 }),
      unknown.catch((reason: unknown) => reason),
    ]);
    expect([one, page]).toEqual([animal, [animal]]);
    if (!(error instanceof TRPCClientError))
      throw new Error('It did not fail as tRPC fails.', { cause: error });
    // `instanceof` cannot narrow to the router: without the annotation `data` is `any`.
    const { data }: TRPCClientError<AppRouter> = error;
    expect(data?.code).toBe('NOT_FOUND');
    expect(data).not.toHaveProperty('stack');
  });
}
