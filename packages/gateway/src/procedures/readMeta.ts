import { formatValue } from '../http/formatValue.ts';
import { isObject } from '../http/isObject.ts';
import { ignoreRejection } from '../http/hooks.ts';
import { isThenable } from '../http/maybePromise.ts';
import {
  flag,
  invalidOptions,
  isText,
  isTextList,
  optional,
  optionProblems,
  type OptionRules,
  positiveNumber,
  required,
  text,
} from '../checks/optionRules.ts';
import { GatewayError } from '../checks/gatewayError.ts';
import type {
  DescribedProcedure,
  Deprecation,
  GatewayMeta,
  IdempotencyKeyUse,
  McpMeta,
  Pagination,
  RestMeta,
  UploadLimits,
} from './meta.ts';
import { isStandardSchema } from '../schemas/standardSchema.ts';
import { isZod, isZod3 } from '../schemas/zodSchema.ts';
import { isErrorStatus, isSuccessStatus } from './errorCodes.ts';

/** The metadata of a procedure, checked and with its defaults. */
export interface ProcedureMeta {
  /** `undefined` if the procedure is not served over REST. */
  readonly rest: RestMeta | undefined;
  /** `undefined` if the procedure is no tool. */
  readonly mcp: McpMeta | undefined;
  /** Whether it is served without a credential (`protect: false`). */
  readonly isPublic: boolean;
  /** The scopes that callers need. `undefined` if they need none. */
  readonly scopes: readonly string[] | undefined;
  /** Maximum duration of a call, in milliseconds. `undefined` means the gateway's `callTimeoutMs`. */
  readonly callTimeoutMs: number | undefined;
  /** How many calls one call counts as for the rate limit. */
  readonly rateLimitCost: number;
  /** How it uses an `Idempotency-Key`. `undefined` means that the header is ignored. */
  readonly idempotencyKey: IdempotencyKeyUse | undefined;
  /** Whether the gateway stores and replays its responses by `Idempotency-Key`. */
  readonly isReplayed: boolean;
  /** Whether its responses are compressed; `undefined` if those that set no cookie are. */
  readonly compression: boolean | undefined;
}

const isPlace = (value: unknown): boolean => {
  const { in: place, name = '' } = isObject(value) ? value : { in: value };
  return isText(name) && /^(?:path|query|header|cookie|body)$/.test(String(place));
};
const isDate = (value: unknown) => value instanceof Date;
const isZodObject = (value: unknown): boolean => isZod(value) && value._zod.def.type === 'object';
// zod 3 has no `~standard` before 3.24.
const schema = optional(
  (value) => isStandardSchema(value) || isZod3(value),
  'a schema, such as z.object({ … })',
);

/** The rule of `compatibility`, in metadata and in the options. */
export const compatibility = optional(
  (value) => value === 'trpc-to-openapi' || value === 'trpc-to-openapi-express',
  "'trpc-to-openapi' or 'trpc-to-openapi-express'",
);

const restRules: OptionRules<RestMeta> = {
  method: optional(
    (value) => isText(value) && /^(?:GET|POST|PUT|PATCH|DELETE)$/.test(value),
    'one of GET, POST, PUT, PATCH, DELETE',
  ),
  path: optional(isText, "a path, such as path: '/pets/{id}'"),
  operationId: text,
  summary: text,
  description: text,
  successDescription: text,
  tags: optional(isTextList, "an array of strings, such as tags: ['pets']"),
  enabled: flag,
  protect: flag,
  contentTypes: optional(
    (value) => isTextList(value) && value.length > 0,
    "a list of media types, such as contentTypes: ['application/json']",
  ),
  in: optional(
    (value) => isObject(value) && Object.values(value).every(isPlace),
    "an object of places (path, query, header, cookie or body), such as in: { tenant: 'header' }",
  ),
  compatibility,
  upload: optional(isObject, 'an object, such as upload: { maxSize: 1_000_000 }', {
    maxSize: positiveNumber,
    maxFileSize: positiveNumber,
    maxFiles: positiveNumber,
    spool: flag,
  } satisfies OptionRules<UploadLimits>),
  requestHeaders: optional(
    isZodObject,
    "a zod object, such as requestHeaders: z.object({ 'x-tenant': z.string() })",
  ),
  headers: optional(
    (value) =>
      isObject(value) &&
      Object.values(value).every(
        (header) =>
          isObject(header) && isText(header['description']) && typeof header['value'] === 'function',
      ),
    "an object of headers, such as headers: { Location: { description: 'The pet.', value: (output) => `/v1/pets/${output.id}` } }",
  ),
  responseHeaders: optional(
    isZodObject,
    "a zod object, such as responseHeaders: z.object({ 'x-total': z.string() }); headers that are computed from the output are in headers",
  ),
  successStatus: optional(
    (value) => [value].flat().length > 0 && [value].flat().every(isSuccessStatus),
    'a status from 200 to 399, or a list of them, such as successStatus: 201',
  ),
  errorResponses: optional(
    (value) =>
      Array.isArray(value)
        ? value.every(isErrorStatus)
        : isObject(value) &&
          Object.keys(value).every((status) => isErrorStatus(Number(status))) &&
          Object.values(value).every(isText),
    "an object or a list of statuses from 400 to 599, such as errorResponses: { 404: 'No such pet.' }",
  ),
  produces: optional(
    (value) => isText(value) || (isObject(value) && Object.keys(value).length > 0),
    "a media type or an object of them, such as produces: 'image/png'",
  ),
  event: schema,
  pagination: optional(isObject, "an object, such as pagination: { cursor: 'after' }", {
    cursor: required(isText, "the name of a query parameter, such as cursor: 'after'"),
  } satisfies OptionRules<Pagination>),
  deprecated: optional(
    (value) => typeof value === 'boolean',
    "true or false; dates are in deprecation, such as deprecation: { since: new Date('2026-01-01') }",
  ),
  deprecation: optional(isObject, "an object, such as deprecation: { since: new Date('2026-01-01') }", {
    since: required(isDate, "a Date, such as new Date('2026-01-01')"),
    sunset: optional(isDate, "a Date, such as new Date('2027-01-01')"),
    successor: text,
    documentation: text,
  } satisfies OptionRules<Deprecation>),
};

/** Matches a scope-token (RFC 6749 §3.3). */
const scopeToken = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** The rule of `maxResultBytes`. Below, not even the text about a cut has room. */
export const maxResultBytes = optional(
  (value) => value === Infinity || (Number.isSafeInteger(value) && Number(value) >= 1000),
  'an integer of at least 1000, or Infinity for no limit but maxResponseSize',
);

const toolRules: OptionRules<McpMeta> = {
  enabled: flag,
  name: text,
  title: text,
  description: text,
  maxResultBytes,
  annotations: optional(isObject, 'an object, such as annotations: { destructiveHint: true }', {
    title: text,
    readOnlyHint: flag,
    destructiveHint: flag,
    idempotentHint: flag,
    openWorldHint: flag,
  } satisfies OptionRules<NonNullable<McpMeta['annotations']>>),
};

const procedureRules: OptionRules<Omit<GatewayMeta, 'openapi'>> = {
  mcp: optional(
    (value) => typeof value === 'boolean' || isObject(value),
    "true, or an object such as mcp: { description: 'Adds a book.' }",
    toolRules,
  ),
  protect: flag,
  scopes: optional(
    (value) => isTextList(value) && value.every((scope) => scopeToken.test(scope)),
    "an array of scopes in printable ASCII without spaces, quotes and backslashes, such as scopes: ['pets:write'] (RFC 6749 §3.3)",
  ),
  callTimeoutMs: optional(
    positiveNumber.accepts,
    'a positive number of milliseconds, or Infinity for no deadline',
  ),
  rateLimitCost: optional(
    (value) => Number.isSafeInteger(value) && Number(value) >= 0,
    'an integer of 0 or more',
  ),
  idempotencyKey: optional(
    (value) => isText(value) && /^(?:optional|required|handled)$/.test(value),
    "'optional', 'required' or 'handled'",
  ),
  compression: flag,
};

/** Which procedures without `openapi` in their metadata are served over REST. */
export type RestOption = boolean | ((procedure: DescribedProcedure) => boolean | RestMeta);

/** Which procedures without `mcp` in their metadata are tools. */
export type ToolOption = (procedure: DescribedProcedure) => boolean | McpMeta;

/** The options that serve procedures without metadata. */
export interface ServedOptions {
  /** Default: false. */
  readonly openapi?: RestOption | undefined;
  /** `tools` of `mcp()`. Default: none. */
  readonly tools?: ToolOption | undefined;
}

/** The metadata of a procedure, with that of the options. */
type CompleteMeta = Omit<GatewayMeta, 'openapi'> & { readonly openapi: RestMeta | undefined };

/** @throws {GatewayError} with a line for each field that is misspelt or invalid, or without effect */
export function readMeta(
  procedure: DescribedProcedure,
  options: ServedOptions = {},
  hasEvent = false,
): ProcedureMeta {
  const { path, type } = procedure;
  const own: GatewayMeta = isObject(procedure.meta) ? procedure.meta : {};
  const rest = own.openapi ?? generatedRest(procedure, options.openapi, hasEvent);
  const tool = own.mcp ?? generated(procedure, options.tools, toolOption);
  const meta = {
    ...own,
    openapi: rest === true ? {} : rest || undefined,
    ...(tool !== undefined && { mcp: tool }),
  };
  const problems = metaProblems(type, meta);
  if (problems.length > 0) {
    throw new GatewayError(problems.map((problem) => `Procedure "${path}": ${problem}`).join('\n'));
  }
  const { compression, openapi, scopes = [], callTimeoutMs, rateLimitCost = 1, idempotencyKey, mcp } = meta;
  const served = openapi?.enabled === false ? undefined : openapi;
  const { protect = served?.protect } = meta;
  return {
    rest: served,
    mcp: mcp === true ? {} : mcp && mcp.enabled !== false ? mcp : undefined,
    isPublic: protect === false,
    scopes: scopes.length === 0 ? undefined : [...new Set(scopes)],
    callTimeoutMs,
    rateLimitCost,
    idempotencyKey,
    isReplayed: idempotencyKey === 'optional' || idempotencyKey === 'required',
    compression,
  };
}

function generatedRest(
  procedure: DescribedProcedure,
  option: RestOption = false,
  hasEvent = false,
): boolean | RestMeta | undefined {
  const rest = typeof option === 'function' ? generated(procedure, option, restOption) : option;
  // A subscription is served only with the schema of its events.
  return rest === true ? hasEvent || procedure.type !== 'subscription' : rest;
}

/** The name of an option that is a function of procedures, and an example of the metadata that it returns. */
interface FunctionOption {
  readonly name: string;
  readonly example: string;
}

const restOption: FunctionOption = { name: 'openapi of createGateway', example: "{ path: '/pets' }" };
const toolOption: FunctionOption = { name: 'tools of mcp()', example: "{ description: 'Adds a pet.' }" };

/** @throws {GatewayError} if the function returns something else than a boolean or an object */
function generated<Meta extends object>(
  procedure: DescribedProcedure,
  option: ((procedure: DescribedProcedure) => boolean | Meta) | undefined,
  { example, name }: FunctionOption,
): boolean | Meta | undefined {
  const result = option?.(procedure);
  if (isThenable(result)) ignoreRejection(result);
  if (typeof result === 'boolean' || result === undefined || (isObject(result) && !isThenable(result))) {
    return result;
  }
  throw new GatewayError(
    `${name} returned ${formatValue(result)} for procedure "${procedure.path}"; it must return true, false or metadata, such as ${example}.`,
  );
}

function metaProblems(type: string, meta: CompleteMeta): readonly string[] {
  const misspelt = Object.keys(meta).flatMap((name) => {
    const near = ['openapi', ...Object.keys(procedureRules)].find(
      (each) => each.toLowerCase() === name.toLowerCase(),
    );
    return near === undefined || near === name
      ? []
      : [`"${name}" is not read from the metadata; did you mean "${near}"?`];
  });
  const { openapi } = meta;
  const problems = [
    ...misspelt,
    ...invalidOptions(meta, procedureRules),
    ...(openapi ? restProblems(openapi) : []),
  ];
  // The rest compares fields with each other.
  if (problems.length > 0) return problems;
  const { scopes = [], idempotencyKey, protect = openapi?.protect } = meta;
  if (openapi?.protect !== undefined && openapi.protect !== protect) {
    problems.push(
      `protect is ${protect}, but openapi.protect is ${openapi.protect}. Remove openapi.protect: protect is for every protocol.`,
    );
  }
  if (openapi?.deprecated === false && openapi.deprecation) {
    problems.push('openapi.deprecated is false, but openapi.deprecation is set. Remove one of them.');
  }
  if (scopes.length > 0 && protect === false) {
    problems.push(
      'scopes are required, but protect: false serves it without a credential. Remove one of them.',
    );
  }
  if (idempotencyKey && type !== 'mutation') {
    problems.push(
      `idempotencyKey is for mutations, but this is a ${type}, which clients can repeat safely. Remove it.`,
    );
  }
  return problems;
}

function restProblems(openapi: RestMeta): readonly string[] {
  const misplaced = isObject(openapi)
    ? Object.keys(openapi).filter((name) => name in procedureRules && !(name in restRules))
    : [];
  const lines = misplaced.map(
    (name) =>
      `${name} is in openapi, where it would apply only to REST. Write meta({ ${name}: …, openapi: { … } }).`,
  );
  if (isObject(openapi) && openapi.enabled === false) return lines;
  const own = isObject(openapi)
    ? Object.fromEntries(Object.entries(openapi).filter(([name]) => !misplaced.includes(name)))
    : openapi;
  return [...lines, ...optionProblems('openapi', own, restRules, 'openapi.')];
}
