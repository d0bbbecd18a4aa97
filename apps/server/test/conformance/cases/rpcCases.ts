import type { AppRouter } from '@petstore/core';
import { createTRPCClient, httpBatchLink, httpLink, TRPCClientError } from '@trpc/client';
import { describe, expect, it } from 'vitest';
import type { Subject } from '../subject.ts';

/**
 * Declares the cases about `/trpc`: docs/decisions.md#trpc. The gateway's suites compare the other behaviour with the
 * official adapter, byte by byte.
 */
export function rpcCases(subject: Subject): void {
  describe.each([
    ['httpLink', httpLink],
    ['httpBatchLink', httpBatchLink],
  ])('docs/decisions.md#trpc: @trpc/client with %s', (linkName, link) => {
    function rpc(key: string | null) {
      const { origin } = subject.client;
      const headers = key === null ? {} : { authorization: `Bearer ${key}` };
      return createTRPCClient<AppRouter>({ links: [link({ url: `${origin}/trpc`, headers })] });
    }

    it(`@trpc/client with ${linkName} creates, lists and gets animals`, async () => {
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
      ['no key', 'UNAUTHORIZED', null, 1],
      ['an unknown key', 'UNAUTHORIZED', 'unknown', 1],
      ['an unknown animal', 'NOT_FOUND', undefined, Number.MAX_SAFE_INTEGER],
      ['a fraction as petId', 'BAD_REQUEST', undefined, 1.5],
    ] as const)(
      `@trpc/client with ${linkName} narrows the error of a call with %s by data.code to %s`,
      async (_what, code, key, petId) => {
        const client = rpc(key === undefined ? subject.client.apiKey : key);
        const error: unknown = await client.getPet.query({ petId }).catch((reason: unknown) => reason);
        if (!(error instanceof TRPCClientError))
          throw new Error('It did not fail as tRPC fails.', { cause: error });
        // `instanceof` cannot narrow to the router: without the annotation `data` is `any`.
        const { data }: TRPCClientError<AppRouter> = error;
        expect(data?.code).toBe(code);
        expect(data).not.toHaveProperty('stack');
      },
    );
  });
}
