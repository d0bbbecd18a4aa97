import type { StandardSchema } from '../schemas/standardSchema.ts';
import type { ZodObjectSchema, ZodSchema } from '../schemas/zodSchema.ts';

/** The deprecation of an operation: sets the headers below on its responses, and adds its dates to the document. */
export interface Deprecation {
  /** The date of the deprecation: the `Deprecation` header (RFC 9745). */
  readonly since: Date;
  /** The date of the removal: the `Sunset` header (RFC 8594). */
  readonly sunset?: Date;
  /** The REST path of the replacement, without the base path: `Link: <…>; rel="successor-version"` (RFC 5829). */
  readonly successor?: `/${string}`;
  /** A page about the deprecation, as an absolute URL or an absolute path: `Link: <…>; rel="deprecation"`. */
  readonly documentation?: string;
}

/** Cursor pagination of a list, by a `Link` header to the next page. */
export interface Pagination {
  /**
   * The query parameter that carries the cursor. If the procedure sets `response.nextCursor`, the response has
   * `Link: <…>; rel="next"` (RFC 8288): the URL of the request with this parameter set to the cursor.
   */
  readonly cursor: string;
}

/** The part of a REST request that carries a property of the input. */
export type InputPlace = 'path' | 'query' | 'header' | 'cookie' | 'body';

/** Limits of an upload, and where its files are kept. `Infinity` removes a limit. */
export interface UploadLimits {
  /** Maximum size of the body, in bytes. A larger one is rejected with 413. Default: the gateway's `maxBodySize`. */
  readonly maxSize?: number;
  /** Maximum size of each file of a form, in bytes. A larger one gets 413. Default: Infinity, so only `maxSize` applies. */
  readonly maxFileSize?: number;
  /** Maximum number of files in a form. More are rejected with 413. Default: 100. */
  readonly maxFiles?: number;
  /**
   * Stores the files of a form (`z.file()`) by the gateway's option `spool` until the call has ended, instead of in
   * memory, where those of a tRPC client stay. Default: false.
   */
  readonly spool?: boolean;
}

/** A response header that is computed from the output. */
export interface ResponseHeader {
  /** The description of the header in the document. */
  readonly description: string;
  /**
   * Returns the value of the header; `undefined` omits the header. It must be synchronous: a promise is a 500.
   * `basePath` is the base path of REST, after `publicUrl`.
   */
  // oxlint-disable-next-line typescript/no-explicit-any -- typed once per router, which knows no procedure's output
  readonly value: (output: any, context: { readonly basePath: string }) => string | number | undefined;
}

/** Encodes an output in a media type, synchronously. Strings are sent as UTF-8. */
export type MediaWriter = (
  // oxlint-disable-next-line typescript/no-explicit-any -- typed once per router, which knows no procedure's output
  output: any,
) => string | Uint8Array | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/** The library whose REST conventions are kept, and for trpc-to-openapi whether it ran on Express. */
export type Compatibility = 'trpc-to-openapi' | 'trpc-to-openapi-express';

/** REST metadata: the fields of trpc-to-openapi and further ones. They determine the responses and the OpenAPI document. */
// Not trpc-to-openapi's own types (3.3.0): they import express, fastify, koa and next, which are not all installed.
export interface RestMeta {
  /** The HTTP method. Default: `POST` for mutations and for queries whose input a URL cannot carry, otherwise `GET`. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /**
   * The path below `restBasePath`. A segment `{name}` is a property of the input; `{+name}` at the end matches the rest
   * of the path, including slashes. Default: the procedure's path with slashes, such as `/books/add` for `books.add`.
   * @example
   * path: '/books/{id}'
   */
  readonly path?: `/${string}`;
  /**
   * The part of the request that carries a property of the input, by property; with `name` if it has another name
   * there. Default: the path for path parameters, the query for other properties of `GET` and `DELETE`, the body for
   * those of other methods. In a query, an array is a repeated name, `tag=a&tag=b`, and an object has the names of its
   * properties in brackets, `filter[name]=x&filter[range][min]=1`.
   * @example
   * in: { tenant: 'header', dryRun: 'query', id: { in: 'path', name: 'petId' } }
   */
  readonly in?: Readonly<Record<string, InputPlace | { readonly in: InputPlace; readonly name?: string }>>;
  /** How the input is read, and the status without output. Default: the gateway's `compatibility`. */
  readonly compatibility?: Compatibility | undefined;
  /** Whether the procedure is served over REST. Default: true. */
  readonly enabled?: boolean;
  /** The operation's `operationId` in the document. Default: the gateway's `operationId` of the procedure's path. */
  readonly operationId?: string;
  /** The operation's summary in the document: one line. Default: the procedure's name in words. */
  readonly summary?: string;
  /** The operation's description in the document. It may be long, and contain Markdown. */
  readonly description?: string;
  /** The operation's tags in the document, which group operations. */
  readonly tags?: readonly string[];
  /** The same as `protect` beside `openapi`, as in trpc-to-openapi. */
  readonly protect?: boolean;
  /** Marks the operation as deprecated in the document. Default: whether `deprecation` is set. */
  readonly deprecated?: boolean;
  /** The dates and the replacement of a deprecated operation, for the document and its responses. Implies `deprecated`. */
  readonly deprecation?: Deprecation;
  /**
   * The media types that the request body may have. Default: `application/json`, or `application/octet-stream` for an
   * input of bytes.
   * - `application/json`
   * - `application/x-www-form-urlencoded`
   * - `multipart/form-data`, for forms with `z.file()`. If it is the only one, an input that reads a `FormData` receives
   *   it as over tRPC: `z.instanceof(FormData)`, `zfd.formData` of zod-form-data, or a function.
   * - `application/merge-patch+json` (RFC 7396), for `PATCH`. `null` removes a property: the schema of a property that may
   *   be removed must be nullable.
   * - any other, for an input of bytes: `octetInputParser`, `z.instanceof(ReadableStream)`, `Uint8Array` or `Blob`
   */
  readonly contentTypes?: readonly string[];
  /**
   * Limits of a request body that is streamed; the gateway's own limits apply to bodies in memory. Raise the procedure's
   * `callTimeoutMs` too if a slow client needs longer to send a large body.
   */
  readonly upload?: UploadLimits;
  /** Request headers, for the document only. They are not part of the input: read them in `createContext`. */
  readonly requestHeaders?: ZodObjectSchema;
  /** The description of the successful response in the document. */
  readonly successDescription?: string;
  /**
   * Error statuses that the document lists, with an optional description of each. Do not list those that the gateway
   * adds itself, such as 400, 401 and 429.
   * @example
   * errorResponses: { 404: 'No such book.' }
   */
  readonly errorResponses?: readonly number[] | Readonly<Record<number, string>>;
  /**
   * The status of a successful response, 200 to 399. If a list, the first is the default and the procedure selects
   * another with `response.status`. A 3xx needs `Location`: `response.header('location', url)`. Default: 200, or if the output
   * is `undefined` 204, with `compatibility` 200.
   */
  readonly successStatus?: number | readonly [number, ...number[]];
  /**
   * The media type of a binary response. The output must then be a `Uint8Array`, a `Blob`, a `ReadableStream` or an
   * async iterable of `Uint8Array`s, and needs no schema. The type of a `Blob`, if set, takes precedence.
   *
   * Or an object of media types to negotiate by `Accept` (RFC 9110 §12.5.1), the preferred one first: `true` for JSON,
   * a function that encodes the output for any other. A request that accepts none of them gets 406.
   */
  readonly produces?: string | Readonly<Record<string, true | MediaWriter>>;
  /**
   * The schema of a subscription's events, which REST serves as `text/event-stream`. Each event is checked against it.
   * `tracked()` sets an event's id; the input property `lastEventId` receives the last id that a reconnecting client
   * saw (`Last-Event-ID`).
   */
  readonly event?: ZodSchema | StandardSchema;
  /**
   * Headers of a successful response that are computed from the output, by name.
   * @example
   * headers: {
   *   Location: { description: 'The new book.', value: (book, { basePath }) => `${basePath}/books/${book.id}` },
   * }
   */
  readonly headers?: Readonly<Record<string, ResponseHeader>>;
  /** Response headers that the procedure sets with `response.header`, for the document only. */
  readonly responseHeaders?: ZodObjectSchema;
  /**
   * Cursor pagination: `response.nextCursor` in the procedure sets a `Link` header to the next page.
   * @example
   * pagination: { cursor: 'after' }
   */
  readonly pagination?: Pagination;
}

/** A tool of the Model Context Protocol. */
export interface McpMeta {
  /** Whether the procedure is a tool, as in trpc-to-mcp. Default: true. */
  readonly enabled?: boolean;
  /**
   * The name: 1 to 128 letters, digits, `_`, `-` and `.`, unique; APIs of models accept 64 without `.`. Default: the
   * procedure's path with `_` for other characters, such as `books_add`.
   */
  readonly name?: string;
  /** The name for people. Default: the operation's summary, if it has a description too. */
  readonly title?: string;
  /**
   * What it does and when to use it, for the model. Default: the description of the operation, or its summary. That of a
   * deprecated operation begins with "Deprecated".
   */
  readonly description?: string;
  /**
   * The largest result, in bytes; a larger one is cut, or an error. At least 1,000. Above 50,000, Claude Code takes it as its own
   * limit for this tool (`anthropic/maxResultSizeChars`), too. Default: the option of `mcp()`, 80,000.
   */
  readonly maxResultBytes?: number;
  /** Hints for the client, which may ask its user before a call. They check nothing. */
  readonly annotations?: {
    /** A name for people, for clients that do not know `title`. */
    readonly title?: string;
    /** Whether it changes nothing. Default: true, unless it is a mutation. */
    readonly readOnlyHint?: boolean;
    /** Whether it may change or remove something that exists. Default: true for a mutation, unless its method is `POST`. */
    readonly destructiveHint?: boolean;
    /** Whether a repetition with the same arguments has no further effect. Default: whether its method is `PUT` or `DELETE`. */
    readonly idempotentHint?: boolean;
    /** Whether it reaches beyond the service, such as a search of the web. Clients assume so. */
    readonly openWorldHint?: boolean;
  };
}

/** How a mutation uses the `Idempotency-Key` of its calls. */
export type IdempotencyKeyUse = 'optional' | 'required' | 'handled';

/**
 * The metadata of a router: `initTRPC.meta<GatewayMeta>()`. `openapi` and `mcp` describe the procedure for one protocol;
 * the fields beside them bind its calls over every protocol. A router of it is valid for trpc-to-openapi too.
 */
// Not an interface, which does not extend the `Record<string, unknown>` that trpc-to-openapi (3.3) requires.
export type GatewayMeta = {
  /**
   * The REST operation of the procedure; `true` is one with all defaults, `false` none. Default: the gateway's option
   * `openapi`, without which the procedure is served over tRPC only.
   */
  readonly openapi?: boolean | RestMeta;
  /**
   * Serves the procedure as a tool, if the gateway has `mcp`. An input that may be no object is the argument `input`. A
   * subscription reports its values as progress, and returns the last one. Default: the option `tools` of `mcp()`, without
   * which it is no tool.
   * @example
   * mcp: { description: 'Adds a book. Search first: titles are not unique.' }
   */
  readonly mcp?: boolean | McpMeta;
  /**
   * Whether calls need a credential, over REST and tRPC, if the gateway has `authentication`. On a WebSocket, all do, and
   * over MCP unless all tools are public. Default: true.
   */
  readonly protect?: boolean;
  /**
   * Scopes that the caller needs, all of them, over REST and tRPC. If one is missing, the call is rejected with 403.
   * The option `scopes` of a security scheme returns the scopes of an identity. Set them once on a base procedure:
   * `const writer = t.procedure.meta({ scopes: ['pets:write'] })`. A later `.meta()` with `scopes` replaces the list.
   */
  readonly scopes?: readonly string[];
  /**
   * Maximum duration of a call, in milliseconds from its start, over REST, tRPC and WebSockets; overrides the
   * option `callTimeoutMs` of `createGateway`. After that, the call is answered with 504 and its `signal` aborts; other
   * calls of its batch continue. `Infinity` means no deadline.
   */
  readonly callTimeoutMs?: number;
  /**
   * Accepts an `Idempotency-Key` (IETF httpapi draft -07) with calls of a mutation, over REST, MCP or as a single tRPC
   * call. `createContext` receives the key. Over MCP, it may also be in `params`, in `params._meta`, or an argument
   * `idempotencyKey` that the procedure does not receive; its input must have no property of that name. Default: keys are
   * ignored.
   * - `'optional'`: the gateway stores the first response to a key, and replays it if a client sends the same key again
   *   (option `idempotency`).
   * - `'required'`: the same, and calls without a key are rejected with 400.
   * - `'handled'`: the procedure stores the key itself, in the same transaction as its data. The gateway stores nothing.
   */
  readonly idempotencyKey?: IdempotencyKeyUse;
  /**
   * The number of tokens that a call takes from the caller's bucket of `rateLimit`, over REST, tRPC and WebSockets: an
   * integer, 0 or more. 0 exempts the procedure. Default: 1.
   */
  readonly rateLimitCost?: number;
  /**
   * Whether responses are compressed, if the gateway has `compression`. With `false`, none is, such as those that repeat
   * input beside a secret (BREACH). With `true`, those that set a cookie are too. A batch is compressed as the strictest of
   * its calls. Default: responses that set no cookie.
   */
  readonly compression?: boolean;
};

/** A procedure, as policies and the options `openapi` and `tools` see it. */
export interface DescribedProcedure<Meta = GatewayMeta> {
  /** The path in the router, such as `pets.create`. */
  readonly path: string;
  readonly type: 'query' | 'mutation' | 'subscription';
  /** The procedure's metadata, as `.meta()` set it. A router may have more fields in it. */
  readonly meta: Meta | undefined;
}
