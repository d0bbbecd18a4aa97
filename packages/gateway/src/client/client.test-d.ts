import { initTRPC } from '@trpc/server';
import { expectTypeOf, test } from 'vitest';
import { safeRetryLink, type MutationPath } from './index.ts';

const t = initTRPC.create();
const appRouter = t.router({
  list: t.procedure.query(() => ['Rex']),
  add: t.procedure.mutation(() => 1),
  toys: t.router({
    throw: t.procedure.mutation(() => 1),
    events: t.procedure.subscription(async function* () {
      yield 1;
    }),
  }),
});
type AppRouter = typeof appRouter;

test('keyedMutations accepts only the paths of the router’s mutations', () => {
  expectTypeOf<MutationPath<AppRouter>>().toEqualTypeOf<'add' | 'toys.throw'>();
  // @ts-expect-error the path of a query
  safeRetryLink<AppRouter>({ keyedMutations: ['list'] });
});
