import type { Store } from '@petstore/core';
import type { Gateway } from 'trpc-gateway';
import type { Configuration } from '../configuration/configuration.ts';
import { createPetStoreGateway } from '../gateway.ts';

function neverCalled(): never {
  throw new Error('This gateway must not be called.');
}

/** Creates a gateway like the service's for its document only. It is never called and needs no store. */
export const describingGateway = (configuration: Configuration): Promise<Gateway> =>
  createPetStoreGateway(configuration, { store: {} as Store, verify: neverCalled });

/** Returns the OpenAPI document as JSON, as the service serves it at `/openapi.json`. */
export async function runOpenApi(configuration: Configuration): Promise<string> {
  const gateway = await describingGateway(configuration);
  return JSON.stringify(await gateway.document(), null, 2);
}
