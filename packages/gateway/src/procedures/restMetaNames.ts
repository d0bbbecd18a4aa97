import type { RestMeta } from './meta.ts';

const names = {
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
} satisfies Record<keyof RestMeta, true>;

/** The fields of REST metadata. */
export const restMetaNames: readonly string[] = Object.keys(names);
