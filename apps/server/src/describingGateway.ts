import type { KeyIdentity } from '@petstore/core';
import { bearer, createGateway, type Gateway } from '@petstore/gateway';
import type { Configuration } from './configuration.ts';
import { edgeOptions } from './edgeOptions.ts';
import { apiKey, service } from './service.ts';

/** A gateway as the service's, which describes it and is never called: it needs no store. */
export const describingGateway = (configuration: Configuration): Promise<Gateway> =>
  createGateway<typeof service.router, KeyIdentity>({
    ...service,
    ...edgeOptions(configuration),
    authentication: bearer({ ...apiKey, verify: neverCalled }),
    createContext: neverCalled,
  });

/** The OpenAPI document as JSON text: what the running service answers at `/openapi.json`. */
export async function openApiText(configuration: Configuration): Promise<string> {
  const gateway = await describingGateway(configuration);
  return JSON.stringify(await gateway.document(), null, 2);
}

function neverCalled(): never {
  throw new Error('Nobody calls this gateway.');
}
