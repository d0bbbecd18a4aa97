export { createGateway, type Gateway } from './gateway.ts';
export type { CompressionOptions } from './policies/compression.ts';
export type { CorsOptions } from './policies/cors.ts';
export type { Origins } from './auth/origins.ts';
export type { FailedAttemptsOptions } from './auth/failedAttempts.ts';
export type { IdempotencyOptions } from './policies/idempotency.ts';
export { memoryState, type MemoryStateOptions } from './state/memoryState.ts';
export type { Bucket, State, TakeResult } from './state/sharedState.ts';
export { takeTokens } from './state/takeTokens.ts';
export type { RateLimitOptions } from './policies/rateLimit.ts';
export type { ReportedError } from './calls/reportError.ts';
export type { CallOutcome, Policy, PolicyContext } from './calls/policy.ts';
export type { Limits } from './calls/limits.ts';
export type { Scheme, SecurityScheme, Verify } from './calls/scheme.ts';
export type { RouteHandler, Routes } from './calls/routes.ts';
export { apiKey, type ApiKeyOptions } from './auth/schemes/apiKey.ts';
export { bearer, type BearerOptions, type ProtectedResourceOptions } from './auth/schemes/bearer.ts';
export { cookie, type CookieOptions } from './auth/schemes/cookie.ts';
export { custom, type CustomOptions } from './auth/schemes/custom.ts';
export type { SchemeOptions } from './auth/schemes/options.ts';
export type { ContextOptions } from './procedures/contextOptions.ts';
export type { DocumentOptions, OpenApiDocument } from './openapi/document.ts';
export type { CallError, RequestRecord, TraceIds } from './calls/requestRecord.ts';
export type { CallTelemetry, ObservedRequest, RequestTelemetry, Telemetry } from './calls/telemetry.ts';
export type { GatewayOptions } from './options.ts';
export type { TrpcOptions, SocketOptions } from './protocols/trpc/options.ts';
export { BodyTooLargeError, type HttpRequest } from './http/request.ts';
export {
  headersOf,
  type Header,
  type HttpResponse,
  type PolicyResponse,
  ResponseControls,
} from './http/response.ts';
export type { Service } from './http/service.ts';
export { GatewayError } from './checks/gatewayError.ts';
export type { GatewayMeta, RestMeta } from './procedures/meta.ts';
export type { ServedProcedure } from './procedures/procedure.ts';
export { apiErrors, problemDetails, type ErrorFormat, type RestError } from './operations/errorFormat.ts';
