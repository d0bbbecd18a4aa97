import { createKeyVerifier } from '@petstore/core';
import { memoryStore } from '@petstore/core/store/testing/memory';
import { healthRoutes } from 'trpc-gateway-runtime/health';
import { readConfiguration } from '../../src/configuration/configuration.ts';
import { createPetStoreGateway } from '../../src/gateway.ts';
import { storeChecks } from '../../src/store/storeFailure.ts';

/** The settings that workerd passes to each request. */
interface Bindings {
  readonly API_KEY: string;
  readonly MAX_BODY_BYTES?: string;
  readonly PUBLIC_URL?: string;
}

const store = memoryStore();
let gateway: ReturnType<typeof create> | undefined;

const create = (bindings: Bindings) =>
  createPetStoreGateway(readConfiguration({ ...bindings }), {
    store,
    verify: createKeyVerifier({ keys: store.keys, apiKey: bindings.API_KEY }),
    routes: healthRoutes({ checks: storeChecks(store), isDraining: () => false }),
  });

/** The pet store as a Worker, with its animals in memory. */
export default {
  async fetch(request: Request, bindings: Bindings): Promise<Response> {
    const { fetch } = await (gateway ??= create(bindings));
    return fetch(request, { remoteAddress: '127.0.0.1' });
  },
};
