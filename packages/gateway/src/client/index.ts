export { callHeaders, hasIdempotencyKey } from './callHeaders.ts';
export { safeRetryLink, type MutationPath, type SafeRetryOptions } from './safeRetryLink.ts';
