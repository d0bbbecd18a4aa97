import type { AnyTRPCRouter } from '@trpc/server';
import type { FailedAttemptsOptions } from './auth/failedAttempts.ts';
import { isObject } from './http/isObject.ts';
import {
  callback,
  flag,
  isFunction,
  isText,
  isTextList,
  optional,
  type OptionRule,
  type OptionRules,
  positiveInteger,
  positiveNumber,
  required,
  text,
  unchecked,
} from './http/optionRules.ts';
import type { DocumentOptions } from './openapi/document.ts';
import type { GatewayOptions } from './options.ts';
import type { CorsOptions } from './policies/cors.ts';
import type { IdempotencyOptions } from './policies/idempotency.ts';
import type { RateLimitOptions } from './policies/rateLimit.ts';
import type { SocketOptions, TrpcOptions } from './protocols/trpc/options.ts';

const object = (example?: string, members?: OptionRule['members']) =>
  optional(isObject, example === undefined ? 'an object' : `an object, such as ${example}`, members);

const limit = required(positiveInteger.accepts, positiveInteger.expected);

const socketRules: OptionRules<SocketOptions> = {
  keepAlive: object('keepAlive: { enabled: true }', {
    enabled: flag,
    pingMs: positiveInteger,
    pongWaitMs: positiveInteger,
  } satisfies OptionRules<NonNullable<SocketOptions['keepAlive']>>),
  experimental_encoder: unchecked,
  maxMessageBytes: positiveInteger,
  maxBufferedBytes: positiveInteger,
};

const documentExample = "document: { title: 'Pets', version: '1.0.0' }";
const documentRules: OptionRules<DocumentOptions> = {
  title: required(isText, `a string: ${documentExample}`),
  version: required(isText, `a string: ${documentExample}`),
  description: text,
  license: object("license: { name: 'MIT' }", { name: required(isText, 'a string'), identifier: text }),
  openapi: optional((value) => value === '3.1' || value === '3.2', "'3.1' or '3.2'"),
  tags: optional(Array.isArray, "a list, such as tags: [{ name: 'pets' }]"),
  transform: callback,
};

/** The rules of the options of `createGateway`. */
export const gatewayRules: OptionRules<GatewayOptions<AnyTRPCRouter, unknown>> = {
  router: required(isTrpcRouter, 'a router of tRPC, such as router: t.router({ … })'),
  // Checked by `schemesOf`.
  authentication: unchecked,
  createContext: required(isFunction, 'a function, such as createContext: () => ({})'),
  restBasePath: text,
  trpcBasePath: text,
  trpc: object(undefined, {
    allowBatching: flag,
    allowMethodOverride: flag,
    maxBatchSize: positiveNumber,
    responseMeta: callback,
    onError: callback,
  } satisfies OptionRules<TrpcOptions<AnyTRPCRouter>>),
  sockets: object(undefined, socketRules),
  documentPath: text,
  document: required(isObject, `an object, such as ${documentExample}`, documentRules),
  publicUrl: text,
  rateLimit: object('rateLimit: { calls: 100, windowSeconds: 60 }', {
    calls: limit,
    windowSeconds: limit,
    key: callback,
  } satisfies OptionRules<RateLimitOptions<unknown>>),
  failedAttempts: object('failedAttempts: { attempts: 10, windowSeconds: 60 }', {
    attempts: limit,
    windowSeconds: limit,
  } satisfies OptionRules<FailedAttemptsOptions>),
  idempotency: object('idempotency: { ttlMs: 3_600_000 }', {
    ttlMs: positiveInteger,
    caller: callback,
  } satisfies OptionRules<IdempotencyOptions<unknown>>),
  state: object('state: folderState({ path }) of @petstore/runtime/state/folder'),
  trustProxy: optional(
    isTextList,
    "an array of the addresses of your proxies, such as trustProxy: ['10.0.0.0/8']",
  ),
  cors: object("cors: { origins: ['https://pets.example'] }", {
    origins: required(
      (value) => isTextList(value) || isFunction(value),
      "an array of origins or a function, such as cors: { origins: ['https://pets.example'] }",
    ),
    credentials: flag,
  } satisfies OptionRules<CorsOptions>),
  telemetry: object(),
  errorFormat: object('errorFormat: problemDetails, which @petstore/gateway exports'),
  maskUnexpectedErrors: flag,
  jsonSchema: object('jsonSchema: { valibot: toStandardJsonSchema }'),
  spool: callback,
  routes: object(),
  policies: optional(Array.isArray, 'a list, such as policies: [{ admit: ({ request }) => … }]'),
  onError: callback,
  onResponse: callback,
  maxBodyBytes: positiveNumber,
  maxResponseBytes: positiveNumber,
  maxInFlight: positiveNumber,
  maxQueueMs: positiveNumber,
  callTimeoutMs: positiveNumber,
};

function isTrpcRouter(value: unknown): boolean {
  return (
    (typeof value === 'object' || typeof value === 'function') &&
    value !== null &&
    '_def' in value &&
    isObject(value._def) &&
    isObject(value._def['procedures'])
  );
}
