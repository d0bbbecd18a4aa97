// A tRPC client. `npm run example rpc`
import type { AppRouter } from '@petstore/types';
import { createTRPCClient, httpBatchLink, httpLink, splitLink, TRPCClientError } from '@trpc/client';
import { callHeaders, hasIdempotencyKey, safeRetryLink } from 'trpc-gateway/client';

const { PETSTORE_URL = 'http://127.0.0.1:3000', KEY } = process.env;

let requests = 0;
const clientWith = (key: string | undefined) => {
  const options = {
    url: `${PETSTORE_URL}/trpc`,
    headers: (call: Parameters<typeof callHeaders>[0]) => ({
      authorization: `Bearer ${key}`,
      ...callHeaders(call),
    }),
  };
  return createTRPCClient<AppRouter>({
    links: [
      // A create whose response is lost is sent again, with its key: it adds one animal.
      safeRetryLink({ keyedMutations: ['createPet'] }),
      splitLink({
        condition: hasIdempotencyKey,
        true: httpLink(options),
        false: httpBatchLink({
          ...options,
          fetch: (url, init) => {
            requests += 1;
            return fetch(url, init as RequestInit);
          },
        }),
      }),
    ],
  });
};
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
