export { callHeaders, hasIdempotencyKey } from './callHeaders.ts';
export type { MutationPath } from './mutationPath.ts';
export { safeRetryLink, type SafeRetryOptions } from './safeRetryLink.ts';
