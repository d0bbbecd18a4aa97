import { appRouter, type AppRouter, createKeyVerifier, type KeyIdentity, type Store } from '@petstore/core';
import { createGateway, type Gateway, type GatewayOptions } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import type { StartContext, Started } from 'trpc-gateway-runtime';
import { bearerAuth, type VerifyToken } from './bearerAuth.ts';
import type { Configuration } from './configuration/configuration.ts';
import { gatewayOptions } from './configuration/options.ts';
import { showFirstKey } from './firstKey.ts';
import { placeOf } from './store/placeOf.ts';
import type { ServedStore } from './store/servedStore.ts';
import { storeChecks } from './store/storeFailure.ts';

export interface PetStoreParts extends Partial<GatewayOptions<AppRouter, KeyIdentity>> {
  readonly store: Store;
  readonly verify: VerifyToken;
}

/** Creates the gateway of the pet store: mounts its procedures over REST, tRPC and MCP, for callers with an API key. */
export const createPetStoreGateway = (
  configuration: Configuration,
  { store, verify, ...options }: PetStoreParts,
): Promise<Gateway> =>
  createGateway<AppRouter, KeyIdentity>({
    router: appRouter,
    // Before the paths of the procedures: /v1/pets and /v1/pets/{petId}.
    restBasePath: '/v1',
    trpcBasePath: '/trpc',
    mcp: mcp({
      path: '/mcp',
      instructions:
        'There is no search: to find an animal by its name, read listPets page by page. Categories are numbers whose meaning no tool knows. No tool changes or removes an animal, so ask the person before createPet.',
    }),
    authentication: bearerAuth(verify),
    createContext: ({ response, identity, idempotencyKey }) => ({
      store,
      response,
      caller: identity?.hash,
      idempotencyKey,
    }),
    document: {
      title: 'Pet Store',
      version: '1.0.0',
      description: [
        'Animals that are available for adoption in a store.',
        'Every call requires an API key as a bearer token. An error is `{ code, message, status }`, and its message names each invalid field. Lists are paginated, and each page links to the next one. A create with an `Idempotency-Key` is executed once, however often it is sent.',
      ].join('\n\n'),
      license: { name: 'MIT', identifier: 'MIT' },
      tags: [{ name: 'pets', description: 'The animals of the store.' }],
    },
    ...gatewayOptions(configuration),
    ...options,
  });

/** Creates the gateway on the store of a process. `serve.ts` opens the store, and serves the gateway on uWebSockets.js. */
export async function startPetStore(
  configuration: Configuration,
  { store, metrics, counters, startupLogFields, logUnavailability }: ServedStore,
  context: StartContext,
): Promise<Started> {
  const verify = createKeyVerifier({ keys: store.keys, apiKey: configuration.API_KEY });
  const gateway = await createPetStoreGateway(configuration, {
    store,
    verify,
    ...(counters !== undefined && { state: counters }),
    ...context.options,
  });
  return {
    gateway,
    checks: storeChecks(store),
    metrics: metrics && (() => metrics(verify.cachedKeys())),
    startupLogFields,
    onListening(origin) {
      logUnavailability();
      if (context.isFirst && process.stderr.isTTY)
        process.stderr.write(`The pet store of the ${placeOf(configuration)}. Docs page: ${origin}/docs\n`);
      // After the port is open: the key is shown only once, and a start that fails must not use that up.
      return showFirstKey(origin, store, configuration, context);
    },
  };
}
