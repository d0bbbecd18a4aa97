// app/title.tsx
'use client';

import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '@/trpc/client';

export const Title = () => <i>{useQuery(useTRPC().book.queryOptions({ id: 1 })).data?.title}</i>;
