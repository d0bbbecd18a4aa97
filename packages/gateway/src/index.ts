export { createGateway, type Gateway, type OpenApiDocument } from './gateway.ts';
export type { Authenticate, Nobody } from './authentication.ts';
export type { CallWay } from './call/procedureCall.ts';
export type { CorsOptions } from './edge/cors.ts';
export type { FailedAttemptsOptions } from './edge/failedAttempts.ts';
export type { Limit } from './edge/limitError.ts';
export type { Caller, RateLimitOptions } from './edge/rateLimit.ts';
export type { Limits } from './limits.ts';
export type {
  ContextOptions,
  DocumentOptions,
  Exchange,
  GatewayOptions,
  RpcOptions,
  SocketOptions,
} from './options.ts';
export {
  BodyTooLargeError,
  headersOf,
  type Header,
  type GatewayBodyStream,
  type GatewayRequest,
  type GatewayResponse,
  type GatewaySocket,
  type Handle,
  type Service,
  type SocketAcceptor,
  type SocketHandler,
  type Upgrade,
} from './http.ts';
export { GatewayError } from './gatewayError.ts';
export type { GatewayMeta, RestMeta, Deprecation, Pagination, ResponseHeader } from './meta.ts';
export type { ServedProcedure } from './procedures.ts';
export { Reply } from './reply.ts';
export type { InputIssue } from './rest/inputError.ts';
export {
  apiErrors,
  problemDetails,
  trpcToOpenApiErrors,
  type ErrorFormat,
  type RestError,
} from './rest/errorFormat.ts';
