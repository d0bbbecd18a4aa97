import { createKeyVerifier, type KeyIdentity } from '@petstore/core';
import { bearer, createGateway } from 'trpc-gateway';
import { healthRoutes } from 'trpc-gateway-runtime/health';
import { authenticateWith } from '../authenticate.ts';
import { apiKeyCredential, service } from '../service.ts';
import { storeChecks } from '../storeFailure.ts';
import { memoryStore } from './memoryStore.ts';

/** The settings that workerd passes to each request. */
interface Bindings {
  readonly API_KEY: string;
  readonly MAX_BODY_BYTES?: string;
  readonly PUBLIC_URL?: string;
}

const store = memoryStore();
let gateway: ReturnType<typeof create> | undefined;

const create = ({ API_KEY, MAX_BODY_BYTES, PUBLIC_URL }: Bindings) =>
  createGateway<typeof service.router, KeyIdentity>({
    ...service,
    ...(MAX_BODY_BYTES !== undefined && { maxBodyBytes: Number(MAX_BODY_BYTES) }),
    ...(PUBLIC_URL !== undefined && { publicUrl: PUBLIC_URL }),
    routes: healthRoutes({ checks: storeChecks(store), isDraining: () => false }),
    createContext: ({ response, identity, idempotencyKey }) => ({
      store,
      response,
      caller: identity?.hash,
      idempotencyKey,
    }),
    authentication: bearer({
      ...apiKeyCredential,
      verify: authenticateWith(createKeyVerifier({ keys: store.keys, apiKey: API_KEY })),
    }),
  });

/** The pet store as a Worker, with its animals in memory. */
export default {
  async fetch(request: Request, bindings: Bindings): Promise<Response> {
    const { fetch } = await (gateway ??= create(bindings));
    return fetch(request, { remoteAddress: '127.0.0.1' });
  },
};
