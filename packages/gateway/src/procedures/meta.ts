import type { z } from 'zod/v4';
import type { oas31 } from 'zod-openapi';
import type { ErrorDefinitions } from './declareErrors.ts';
import type { StandardSchema } from './standardSchema.ts';

/** When an operation was deprecated, when it goes, and what replaces it. Headers and the document are made of this. */
export interface Deprecation {
  /** When it was deprecated: the `Deprecation` header (RFC 9745). */
  readonly since: Date;
  /** When it is removed: the `Sunset` header (RFC 8594). */
  readonly sunset?: Date;
  /** The REST path of what replaces it, without the base path: `Link: <…>; rel="successor-version"` (RFC 5829). */
  readonly successor?: `/${string}`;
  /** A page about the deprecation, as an absolute URL or an absolute path: `Link: <…>; rel="deprecation"`. */
  readonly documentation?: string;
}

/** How a list goes on after a page. */
export interface Pagination {
  /**
   * The query parameter that carries the cursor. A procedure that sets `response.nextCursor` answers with
   * `Link: <…>; rel="next"` (RFC 8288): the same query with this parameter set to the cursor.
   */
  readonly cursor: string;
}

/** Where a property of the input travels in a request. */
export type InputPlace = 'path' | 'query' | 'header' | 'cookie' | 'body';

/**
 * How a query writes an array or an object:
 * - `repeat`: `tag=a&tag=b`
 * - `comma`: `tag=a,b`
 * - `brackets`: `tag[]=a&tag[]=b` or `tag[0]=a&tag[1]=b`, and objects as `deepObject`
 * - `deepObject`: `filter[name]=x&filter[range][min]=1`; arrays within repeat their name or have brackets
 */
export type QueryStyle = 'repeat' | 'comma' | 'brackets' | 'deepObject';

/** How an upload is received, and what it may take. `Infinity` lifts a limit. */
export interface UploadLimits {
  /** The largest body, in bytes; a larger one is 413. Default: the gateway's `maxBodyBytes`. */
  readonly maxBytes?: number;
  /** The largest file of a form, in bytes; a larger one is 413. Default: Infinity, `maxBytes` limits all together. */
  readonly maxFileBytes?: number;
  /** How many files a form may have; more are 413. Default: 100. */
  readonly maxFiles?: number;
  /**
   * Whether the files of a form (`z.file()`) are kept by the gateway's option `spool` until the call has ended, rather than
   * in memory. Default: false.
   */
  readonly spool?: boolean;
}

/** A response header whose value follows from the output. */
export interface ResponseHeader {
  readonly description: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- typed once per router, which knows no procedure's output
  readonly value: (output: any, context: { readonly basePath: string }) => string | number | undefined;
}

/** Writes an output in a media type. Texts are sent as UTF-8. */
export type MediaWriter = (
  // oxlint-disable-next-line typescript/no-explicit-any -- typed once per router, which knows no procedure's output
  output: any,
) => string | Uint8Array | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/**
 * A procedure's REST metadata: trpc-to-openapi's vocabulary, and what it lacks. Whatever is said here is seen both in
 * answers and in the OpenAPI document.
 */
// Spelled out: trpc-to-openapi's own types (3.3.0) import express, fastify, koa and next, which nobody has all of.
export interface RestMeta {
  /** `QUERY` (RFC 10008) is a query whose input is a body. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'QUERY';
  /**
   * The path below the base path; `{name}` segments are parameters, and `{+name}` at the end takes the rest of the path,
   * slashes included.
   */
  readonly path: `/${string}`;
  /**
   * Where properties of the input travel, by name: `{ tenant: 'header', dryRun: 'query', id: { in: 'path', name: 'petId' } }`.
   * Default: in the path where the path names them, in the query of `GET` and `DELETE`, otherwise in the body.
   */
  readonly in?: Readonly<Record<string, InputPlace | { readonly in: InputPlace; readonly name?: string }>>;
  /**
   * How arrays and objects are written in the query, of the operation or by property. Default: arrays repeat their name,
   * objects are `deepObject`.
   */
  readonly queryStyle?: QueryStyle | Readonly<Record<string, QueryStyle>>;
  /** Whether there is a REST operation. Default: true. */
  readonly enabled?: boolean;
  /** The operation's name in the document. Default: the procedure's path. */
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  /** The names of the groups that the operation is in. */
  readonly tags?: readonly string[];
  /** Whether a credential is required, where the gateway has `authentication`. Default: true. */
  readonly protect?: boolean;
  /** Whether the document says so. `deprecation` says so too, and more. */
  readonly deprecated?: boolean;
  /**
   * The media types of a body: `application/json`, `application/x-www-form-urlencoded`, `multipart/form-data`, and of a
   * `PATCH` `application/merge-patch+json` (RFC 7396), in which the input's schema says what `null` may remove. Of an input
   * that is bytes (`octetInputParser`, `z.instanceof(ReadableStream)`, `Uint8Array` or `Blob`): any others. Default:
   * `application/json`, and `application/octet-stream` of bytes.
   */
  readonly contentTypes?: readonly string[];
  /**
   * The limits of a body that is a stream: those of the gateway are for bodies in memory. A call that reads a large one
   * also needs a `deadlineMs` that its client can meet.
   */
  readonly upload?: UploadLimits;
  /** Request headers that the document describes. They are not part of the input: `createContext` reads them. */
  readonly requestHeaders?: z.ZodObject;
  /** What the document says of a successful answer. */
  readonly successDescription?: string;
  /** The statuses of errors that the document lists, beyond those that follow from the rest; with a sentence for each. */
  readonly errorResponses?: readonly number[] | Readonly<Record<number, string>>;
  /**
   * The status of a successful answer; of several, the first is the default and a procedure picks another with
   * `response.status`. Without it: 200, and 204 for an output of `void`. A 3xx is a redirect to `response.redirect(url)`.
   */
  readonly successStatus?: number | readonly [number, ...number[]];
  /**
   * The schema of the output of each 2xx status, such as `{ 200: Pet, 202: Job, 204: z.void() }`: over REST the output is
   * parsed by the schema of its status, after `.output()`, which stays what tRPC's clients receive. The lowest status is
   * the default (204 where the output is `undefined`), and a procedure picks another with `response.status`. In place of
   * `successStatus`.
   */
  readonly responses?: Readonly<Record<number, z.ZodType | StandardSchema>>;
  /**
   * The media type of a response of bytes. The output is then a `Uint8Array`, a `Blob`, a `ReadableStream` or an async
   * iterable of `Uint8Array`s, and needs no schema. A `Blob` that knows its own type is answered with that.
   *
   * Or the media types that `Accept` chooses from (RFC 9110 §12.5.1), the preferred one first: `true` for JSON, a function
   * of the output for any other.
   */
  readonly produces?: string | Readonly<Record<string, true | MediaWriter>>;
  /**
   * What an event's data is, of a subscription, which is served as `text/event-stream`. Each event is checked against it;
   * `tracked()` gives it an id, and an input named `lastEventId` takes the id that a client had last (`Last-Event-ID`).
   */
  readonly event?: z.ZodType | StandardSchema;
  /**
   * Headers of a successful answer, by name; or, as in trpc-to-openapi, a zod object that describes those which the
   * procedure sets with `response.header`.
   */
  readonly responseHeaders?: Readonly<Record<string, ResponseHeader>> | z.ZodObject;
  /**
   * Whether clients may send an `Idempotency-Key` (IETF httpapi draft -07) that the procedure handles: `createContext` is
   * given it, and the procedure stores it in the same transaction as what it writes. `idempotencyKey` beside `openapi` needs
   * nothing of the procedure.
   */
  readonly idempotencyKey?: boolean;
  readonly deprecation?: Deprecation;
  readonly pagination?: Pagination;
  /**
   * Changes the operation in the document, once, after everything else is described: the object that it returns stands
   * there. `null` leaves the operation out of the document; it is served all the same.
   */
  readonly document?: (operation: oas31.OperationObject) => oas31.OperationObject | null;
}

/** The metadata of a router: `initTRPC.meta<GatewayMeta>()`. */
export interface GatewayMeta {
  readonly openapi?: RestMeta;
  /**
   * The scopes that a caller needs, all of them, over REST and tRPC: without one the call is 403. `scopes` of a scheme says
   * which an identity has. Beside `openapi`, so that a procedure can be built upon that has them:
   * `const writer = t.procedure.meta({ scopes: ['pets:write'] })`. Those of a later `.meta()` replace them: list all.
   */
  readonly scopes?: readonly string[];
  /**
   * How long a call may take, in milliseconds, from when it starts: longer or shorter than `callTimeoutMs`, over REST, tRPC
   * and WebSockets. Then it is answered 504 and its `signal` aborts, and those of other calls of its batch do not.
   * `Infinity`: as long as it likes.
   */
  readonly deadlineMs?: number;
  /**
   * Whether clients may send an `Idempotency-Key` (IETF httpapi draft -07) with a mutation, over REST or as a single call
   * over tRPC: the gateway stores the first response and replays it (option `idempotency`). `'required'`: a call without one
   * is 400. `createContext` is given the key too.
   */
  readonly idempotencyKey?: boolean | 'required';
  /** How many calls a call counts as for `rateLimit`, over REST, tRPC and WebSockets. Default: 1; 0 is never limited. */
  readonly rateLimitCost?: number;
  /**
   * Describes what a formatter of your own in `.errors()` makes, for REST, the document and generated types: `data.code`
   * of a shape is one of these codes, and `data.data` fits its schema. `.errors(declareErrors(…))` needs none of it.
   */
  readonly errors?: ErrorDefinitions;
}
