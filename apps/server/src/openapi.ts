import type { KeyIdentity } from '@petstore/core';
import { createGateway } from '@petstore/gateway';
import type { Configuration } from './configuration.ts';
import { edgeOptions } from './edgeOptions.ts';
import { neverCalled, service } from './service.ts';

/** The OpenAPI document as JSON text: what the running service answers at `/openapi.json`. It needs no store. */
export async function openApiText(configuration: Configuration): Promise<string> {
  const gateway = await createGateway<typeof service.router, KeyIdentity>({
    ...service,
    ...edgeOptions(configuration),
    authenticate: neverCalled,
    createContext: neverCalled,
  });
  return JSON.stringify(await gateway.document(), null, 2);
}
