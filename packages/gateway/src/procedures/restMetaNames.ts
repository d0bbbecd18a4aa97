import { memberNames } from '../http/unknownOptions.ts';
import { GatewayError } from './gatewayError.ts';
import type { GatewayMeta, RestMeta, UploadLimits } from './meta.ts';

/** The fields of REST metadata. */
export const restMetaNames = memberNames<RestMeta>({
  method: true,
  path: true,
  in: true,
  queryStyle: true,
  enabled: true,
  operationId: true,
  summary: true,
  description: true,
  tags: true,
  protect: true,
  deprecated: true,
  contentTypes: true,
  upload: true,
  requestHeaders: true,
  successDescription: true,
  errorResponses: true,
  successStatus: true,
  responses: true,
  produces: true,
  event: true,
  responseHeaders: true,
  idempotencyKey: true,
  deprecation: true,
  pagination: true,
  document: true,
});

export const uploadOptionNames = memberNames<UploadLimits>({
  maxBytes: true,
  maxFileBytes: true,
  maxFiles: true,
  spool: true,
});

const metaNames = memberNames<GatewayMeta>({
  openapi: true,
  scopes: true,
  deadlineMs: true,
  rateLimitCost: true,
  idempotencyKey: true,
  errors: true,
});

/**
 * Returns the metadata if no name differs from one of the gateway's only in case. Other unknown names are allowed,
 * since a router may have its own metadata.
 * @throws {GatewayError} for a name such as `openApi` or `deadlineMS`, which would have no effect
 */
export function checkMetaNames<Meta>(path: string, meta: Meta): Meta {
  for (const name of Object.keys(meta ?? {})) {
    const near = metaNames.find((known) => known !== name && known.toLowerCase() === name.toLowerCase());
    if (near === undefined) continue;
    throw new GatewayError(`Procedure "${path}" has the metadata "${name}"; did you mean "${near}"?`);
  }
  return meta;
}
