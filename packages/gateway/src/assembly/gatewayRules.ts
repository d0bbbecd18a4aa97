import { isObject } from '../http/isObject.ts';
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
} from '../checks/optionRules.ts';
import type { AnyGatewayOptions } from './options.ts';
import { compatibility } from '../procedures/readMeta.ts';

type MemberRules<Name extends keyof AnyGatewayOptions> = OptionRules<NonNullable<AnyGatewayOptions[Name]>>;

const object = (example?: string, members?: OptionRule['members']) =>
  optional(isObject, example === undefined ? 'an object' : `an object, such as ${example}`, members);

const limit = required(
  (value) => value !== undefined && positiveInteger.accepts(value),
  positiveInteger.expected,
);

const socketRules: MemberRules<'sockets'> = {
  keepAlive: object('keepAlive: { enabled: true }', {
    enabled: flag,
    pingMs: positiveInteger,
    pongWaitMs: positiveInteger,
  } satisfies OptionRules<NonNullable<NonNullable<AnyGatewayOptions['sockets']>['keepAlive']>>),
};

const documentExample = "document: { title: 'Pets', version: '1.0.0' }";
const documentRules: MemberRules<'document'> = {
  title: required(isText, `a string: ${documentExample}`),
  version: required(isText, `a string: ${documentExample}`),
  description: text,
  license: object("license: { name: 'MIT' }", { name: required(isText, 'a string'), identifier: text }),
  openapi: optional((value) => value === '3.1' || value === '3.2', "'3.1' or '3.2'"),
  tags: optional(Array.isArray, "a list, such as tags: [{ name: 'pets' }]"),
  path: text,
  operationId: callback,
  securitySchemes: optional(
    (value) =>
      isObject(value) &&
      Object.keys(value).every((name) => /^[\w.-]+$/.test(name)) &&
      Object.values(value).every((each) => isObject(each) && isText(each['type'])),
    "an object of Security Scheme Objects by names of letters, digits, '.', '_' and '-', such as securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } }",
  ),
  transform: callback,
};

export const gatewayRules: OptionRules<AnyGatewayOptions> = {
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
  } satisfies MemberRules<'trpc'>),
  sockets: object(undefined, socketRules),
  mcp: optional(
    (value) => isObject(value) && isFunction(value['read']),
    'mcp(), which trpc-gateway/mcp exports',
  ),
  document: required(isObject, `an object, such as ${documentExample}`, documentRules),
  publicUrl: text,
  rateLimit: object('rateLimit: { calls: 100, windowMs: 60_000 }', {
    calls: limit,
    windowMs: limit,
    key: callback,
  } satisfies MemberRules<'rateLimit'>),
  failedAttempts: object('failedAttempts: { attempts: 10, windowMs: 60_000 }', {
    attempts: limit,
    windowMs: limit,
  } satisfies MemberRules<'failedAttempts'>),
  idempotency: object('idempotency: { ttlMs: 3_600_000 }', {
    ttlMs: positiveInteger,
    caller: callback,
  } satisfies MemberRules<'idempotency'>),
  state: object('state: folderState({ path }) of trpc-gateway-shared/state/folder'),
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
  } satisfies MemberRules<'cors'>),
  compression: flag,
  telemetry: object(),
  openapi: optional(
    (value) => typeof value === 'boolean' || isFunction(value),
    'true, false or a function, such as openapi: ({ type }) => type === "query"',
  ),
  outputs: optional(
    (value) =>
      isObject(value) && value['version'] === 1 && isObject(value['procedures']) && isObject(value['$defs']),
    'what trpc-gateway-typegen outputs of this version writes',
  ),
  compatibility,
  errorFormat: object('errorFormat: problemDetails, which trpc-gateway exports'),
  maskUnexpectedErrors: flag,
  mapError: callback,
  spool: callback,
  routes: object(),
  policies: optional(Array.isArray, 'a list, such as policies: [{ admit: ({ request }) => … }]'),
  onError: callback,
  onResponse: callback,
  maxBodySize: positiveNumber,
  maxResponseSize: positiveNumber,
  maxInFlight: positiveNumber,
  maxQueueMs: positiveNumber,
  callTimeoutMs: positiveNumber,
};

function isTrpcRouter(value: unknown): boolean {
  const { _def: definition } = Object(value) as { readonly _def?: { readonly procedures?: unknown } };
  return isObject(definition?.procedures);
}
