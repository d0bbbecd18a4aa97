// app/page.tsx
import { dehydrate, HydrationBoundary } from '@tanstack/react-query';
import { caller, getQueryClient, trpc } from '@/trpc/server';
import { Title } from './title';

export default async function Page() {
  const user = await caller.me();
  await getQueryClient().prefetchQuery(trpc.book.queryOptions({ id: 1 }));
  return (
    <HydrationBoundary state={dehydrate(getQueryClient())}>
      {user} reads <Title />
    </HydrationBoundary>
  );
}
