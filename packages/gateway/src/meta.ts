// So that a schema's `.meta()` knows what it may say of the document: `override`, `param` and others. `import type {}`
// would not reach the declarations (TypeScript 7.0), and without `zod/v4` there is nothing that zod-openapi (5.4) adds to.
/// <reference types="zod-openapi" preserve="true" />
export { ApiError } from './openapi/errorFormat.ts';
export { clientMessage } from './procedures/clientError.ts';
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
export { fileStream } from './procedures/fileStream.ts';
export type { Spool, SpooledFile, UploadedFile } from './http/upload.ts';
export type { ResponseControls } from './procedures/responseControls.ts';
