import type { KeyIdentity } from '@petstore/core';
import { bearer, createGateway, type Gateway } from 'trpc-gateway';
import type { Configuration } from './configuration.ts';
import { edgeOptions } from './edgeOptions.ts';
import { apiKeyCredential, service } from './service.ts';

/** Creates a gateway like the service's for its document only. It is never called and needs no store. */
export const describingGateway = (configuration: Configuration): Promise<Gateway> =>
  createGateway<typeof service.router, KeyIdentity>({
    ...service,
    ...edgeOptions(configuration),
    authentication: bearer({ ...apiKeyCredential, verify: neverCalled }),
    createContext: neverCalled,
  });

/** Returns the OpenAPI document as JSON, as the service serves it at `/openapi.json`. */
export async function openApiText(configuration: Configuration): Promise<string> {
  const gateway = await describingGateway(configuration);
  return JSON.stringify(await gateway.document(), null, 2);
}

function neverCalled(): never {
  throw new Error('This gateway must not be called.');
}
