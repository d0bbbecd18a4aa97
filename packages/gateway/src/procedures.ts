// Types the members `override`, `param` and others of a zod schema's `.meta()`. `import type {}` would not be kept in
// the declarations (TypeScript 7.0). zod-openapi (6.0) augments `zod` and `zod/v4`.
/// <reference types="zod-openapi" preserve="true" />
export { type ApiError, apiErrorSchema } from './procedures/errorCodes.ts';
export {
  declareErrors,
  type DeclaredErrors,
  type DeclaredErrorShape,
  type ErrorDefinition,
  type ErrorDefinitions,
} from './procedures/declareErrors.ts';

export type {
  Deprecation,
  GatewayMeta,
  MediaWriter,
  Pagination,
  ResponseHeader,
  RestMeta,
  UploadLimits,
} from './procedures/meta.ts';
export { resyncDefinition, resyncErrors } from './procedures/resync.ts';
export { isTrpcError } from './procedures/clientError.ts';
export { type Limit, LimitError } from './procedures/limitError.ts';
export type { Spool, SpooledFile, UploadedFile } from './http/upload.ts';
export type { ResponseControls } from './http/response.ts';
