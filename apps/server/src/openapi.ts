import type { Configuration } from './configuration.ts';
import { describingGateway } from './describingGateway.ts';

/** The OpenAPI document as JSON text: what the running service answers at `/openapi.json`. */
export async function openApiText(configuration: Configuration): Promise<string> {
  const gateway = await describingGateway(configuration);
  return JSON.stringify(await gateway.document(), null, 2);
}
