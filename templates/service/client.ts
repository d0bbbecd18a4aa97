import { createTRPCClient, httpBatchLink } from '@trpc/client';
import type { AppRouter } from './router.ts';

const { API_KEY, PORT = '3000' } = process.env;
const origin = `http://127.0.0.1:${PORT}`;
const headers = { authorization: `Bearer ${API_KEY}` };

// Over tRPC, with the types of the router:
const client = createTRPCClient<AppRouter>({ links: [httpBatchLink({ url: `${origin}/trpc`, headers })] });
const { id } = await client.addBook.mutate({ title: 'Emma' });

// Over REST:
const response = await fetch(`${origin}/v1/books/${id}`);
console.log(await response.json());
