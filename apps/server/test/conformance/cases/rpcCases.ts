import type { AppRouter } from '@petstore/core';
import { createTRPCClient, httpBatchLink, TRPCClientError } from '@trpc/client';
import { expect, it } from 'vitest';
import type { Subject } from '../subject.ts';

/**
 * Declares the cases about `/trpc`: docs/decisions.md#trpc. The gateway's suites compare the other behaviour with the
 * official adapter, byte by byte.
 */
export function rpcCases(subject: Subject): void {
  function rpc(key: string | null) {
    const { origin } = subject.client;
    const headers = key === null ? {} : { authorization: `Bearer ${key}` };
    return createTRPCClient<AppRouter>({ links: [httpBatchLink({ url: `${origin}/trpc`, headers })] });
  }

  it('docs/decisions.md#trpc: @trpc/client creates, lists and gets animals', async () => {
    const client = rpc(subject.client.apiKey);
    const animal = await client.createPet.mutate({ name: 'Ada', categoryId: 3, status: 'pending' });
    expect(animal).toEqual({ id: expect.any(Number), name: 'Ada', categoryId: 3, status: 'pending' });
    // Concurrent calls: httpBatchLink sends them as one batch.
    const [one, page] = await Promise.all([
      client.getPet.query({ petId: animal.id }),
      client.listPets.query({ cursor: animal.id - 1, limit: 1 }),
    ]);
    expect([one, page]).toEqual([animal, [animal]]);
  });

  it.each([
    ['no key', 'UNAUTHORIZED', null],
    ['an unknown animal', 'NOT_FOUND', undefined],
  ] as const)(
    '@trpc/client narrows the error of a call with %s by data.code to %s',
    async (_what, code, key) => {
      const client = rpc(key === undefined ? subject.client.apiKey : key);
      const call = client.getPet.query({ petId: Number.MAX_SAFE_INTEGER });
      const error: unknown = await call.catch((reason: unknown) => reason);
      if (!(error instanceof TRPCClientError))
        throw new Error('It did not fail as tRPC fails.', { cause: error });
      // `instanceof` cannot narrow to the router: without the annotation `data` is `any`.
      const { data }: TRPCClientError<AppRouter> = error;
      expect(data?.code).toBe(code);
      expect(data).not.toHaveProperty('stack');
    },
  );
}
