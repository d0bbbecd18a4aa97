import { createTRPCClient, httpBatchLink, httpLink, splitLink } from '@trpc/client';
import { initTRPC } from '@trpc/server';
import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { callHeaders, hasIdempotencyKey, safeRetryLink, type MutationPath } from './index.ts';

const t = initTRPC.create();
const appRouter = t.router({
  list: t.procedure.query(() => ['Rex']),
  add: t.procedure.input(z.string()).mutation(({ input }) => input),
  toys: t.router({
    throw: t.procedure.mutation(() => 1),
    events: t.procedure.subscription(async function* () {
      yield 1;
    }),
  }),
});
type AppRouter = typeof appRouter;
const url = 'http://localhost/trpc';

test('safeRetryLink is accepted as a link, and the client keeps the types of the router', () => {
  const client = createTRPCClient<AppRouter>({
    links: [
      safeRetryLink({ keyedMutations: ['add', 'toys.throw'], attempts: 2 }),
      splitLink({
        condition: hasIdempotencyKey,
        true: httpLink({ url, headers: callHeaders }),
        false: httpBatchLink({
          url,
          headers: (request) => ({ authorization: 'Bearer a', ...callHeaders(request) }),
        }),
      }),
    ],
  });
  expectTypeOf(client.add.mutate).returns.resolves.toEqualTypeOf<string>();
  expectTypeOf(client.toys.throw.mutate).returns.resolves.toEqualTypeOf<number>();
});

test('keyedMutations accepts only the paths of the router’s mutations', () => {
  expectTypeOf<MutationPath<AppRouter>>().toEqualTypeOf<'add' | 'toys.throw'>();
  createTRPCClient<AppRouter>({
    // @ts-expect-error the path of a query
    links: [safeRetryLink({ keyedMutations: ['list'] }), httpLink({ url })],
  });
});
