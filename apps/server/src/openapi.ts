import { createGateway } from '@petstore/gateway';
import type { Configuration } from './configuration.ts';
import { service } from './service.ts';

/** The OpenAPI document as JSON text: what the running service answers at `/openapi.json`. It needs no store. */
export async function openApiText({ PUBLIC_URL }: Pick<Configuration, 'PUBLIC_URL'>): Promise<string> {
  const gateway = await createGateway({
    ...service,
    ...(PUBLIC_URL !== undefined && { publicUrl: PUBLIC_URL }),
    authenticate: neverCalled,
    createContext: neverCalled,
  });
  return JSON.stringify(await gateway.document(), null, 2);
}

function neverCalled(): never {
  throw new Error('A document is made without a call.');
}
