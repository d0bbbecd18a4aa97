// trpc/server.ts
import { QueryClient } from '@tanstack/react-query';
import { createTRPCOptionsProxy } from '@trpc/tanstack-react-query';
import { headers } from 'next/headers';
import { cache } from 'react';
import { createTRPCContext } from '@/server/context';
import { appRouter as router } from '@/server/router';

const ctx = cache(async () => createTRPCContext({ headers: await headers() }));

export const caller = router.createCaller(ctx);
export const getQueryClient = cache(() => new QueryClient());
export const trpc = createTRPCOptionsProxy({ ctx, router, queryClient: getQueryClient });
