export { createGateway, type Gateway } from './gateway.ts';
export type { Fetch, FetchInit } from './adapters/fetch/fetch.ts';
export type { CorsOptions } from './policies/cors.ts';
export type { AllowsOrigin, Origins } from './auth/origins.ts';
export type { FailedAttemptsOptions } from './auth/failedAttempts.ts';
export type { IdempotencyOptions } from './policies/idempotency.ts';
export { memoryState, type MemoryStateOptions } from './state/memoryState.ts';
export type { Bucket, State, TakeResult } from './state/state.ts';
export { takeTokens } from './state/takeTokens.ts';
export type { Limit } from './http/limit.ts';
export type { Caller, RateLimitOptions } from './policies/rateLimit.ts';
export type { ReportedError } from './calls/errorReporter.ts';
export type { Policy, PolicyContext } from './calls/policy.ts';
export type { PolicyResponse } from './http/outgoingResponse.ts';
export type { Limits } from './calls/limits.ts';
export type {
  ChallengeError,
  HeaderSource,
  Rejected,
  ProtectedResource,
  Scheme,
  SecurityScheme,
  Verify,
} from './calls/scheme.ts';
export type { Route, RouteContext, RouteHandler, Routes } from './calls/routes.ts';
export { apiKey, type ApiKeyOptions } from './auth/schemes/apiKey.ts';
export { basic, type BasicOptions } from './auth/schemes/basic.ts';
export { bearer, type BearerOptions } from './auth/schemes/bearer.ts';
export { cookie, type CookieOptions } from './auth/schemes/cookie.ts';
export { custom, type CustomOptions } from './auth/schemes/custom.ts';
export type { SchemeOptions } from './auth/schemes/options.ts';
export type { ProtectedResourceOptions } from './auth/schemes/bearer.ts';
export type { ContextOptions } from './procedures/contextOptions.ts';
export type { DocumentOptions, OpenApiDocument } from './openapi/document.ts';
export type { RequestRecord, TraceIds } from './calls/requestRecord.ts';
export type { CallTelemetry, ObservedRequest, RequestTelemetry, Telemetry } from './calls/telemetry.ts';
export type { GatewayOptions } from './options.ts';
export type { TrpcOptions, SocketOptions } from './protocols/trpc/options.ts';
export { BodyTooLargeError, type HttpRequest } from './http/request.ts';
export { headersOf, type Header, type BodyStream, type HttpResponse } from './http/response.ts';
export type { Handle, HttpRejection, RejectHttp, Service, Upgrade } from './http/service.ts';
export type { WebSocketPeer, SocketAcceptor, SocketHandler } from './http/webSocket.ts';
export { GatewayError } from './procedures/gatewayError.ts';
export type { GatewayMeta, RestMeta, Deprecation, Pagination, ResponseHeader } from './procedures/meta.ts';
export type { ServedProcedure } from './procedures/procedures.ts';
export type { JsonSchemaConverters, StandardJsonSchema } from './procedures/standardSchema.ts';
export { ResponseControls } from './http/outgoingResponse.ts';
export type { InputIssue } from './procedures/inputError.ts';
export {
  apiErrors,
  createProblemDetails,
  problemDetails,
  trpcToOpenApiErrors,
  type DescribedErrors,
  type ErrorFormat,
  type ProblemDetailsOptions,
  type RestError,
} from './operations/errorFormat.ts';
