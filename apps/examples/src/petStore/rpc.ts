// A tRPC client. `npm run example rpc`
import type { AppRouter } from '@petstore/types';
import { createTRPCClient, httpBatchLink, TRPCClientError } from '@trpc/client';

const { PETSTORE_URL = 'http://127.0.0.1:3000', KEY } = process.env;

let requests = 0;
const clientWith = (key: string | undefined) =>
  createTRPCClient<AppRouter>({
    links: [
      httpBatchLink({
        url: `${PETSTORE_URL}/trpc`,
        headers: { authorization: `Bearer ${key}` },
        fetch: (url, options) => {
          requests += 1;
          return fetch(url, options as RequestInit);
        },
      }),
    ],
  });
const client = clientWith(KEY);

const rex = await client.createPet.mutate({ name: 'Rex', categoryId: 1, status: 'available' });
console.log(`added ${rex.name} as ${rex.id}`);

// Concurrent calls are sent as one batch.
requests = 0;
const [all, sold] = await Promise.all([
  client.listPets.query({ limit: 10 }),
  client.listPets.query({ status: 'sold' }),
]);
console.log(`${all.length} in all, ${sold.length} sold, in ${requests} request`);

/** Narrows an error to an error of this router, with a tRPC code in `data.code`. */
const isPetStoreError = (error: unknown): error is TRPCClientError<AppRouter> =>
  error instanceof TRPCClientError;

async function printError(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isPetStoreError(error)) throw error;
    switch (error.data?.code) {
      case 'BAD_REQUEST':
        return console.log(`not valid, what ${error.data.path} was given`);
      case 'UNAUTHORIZED':
        return console.log(`no entry: ${error.message}`);
      default:
        throw error;
    }
  }
}
await printError(client.listPets.query({ limit: 1000 }));
await printError(clientWith('not-a-key').listPets.query());
