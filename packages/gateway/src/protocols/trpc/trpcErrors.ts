import { getErrorShape, TRPCError } from '@trpc/server';
import type { TRPCErrorShape } from '@trpc/server/rpc';
import { requireSync } from '../../http/hooks.ts';
import { type Header, OutgoingResponse, utf8Length } from '../../http/response.ts';
import type { ReportError } from '../../calls/reportError.ts';
import type { RequestContext } from '../../calls/requestContext.ts';
import { batchTooLarge, boundedJson, errorTooLarge, maxErrorBytes } from '../../calls/responseBytes.ts';
import {
  clientMessage,
  codeOf,
  errorStatusOf,
  isFormatted,
  isMappedDeclared,
  unknownCall,
} from '../../procedures/clientError.ts';
import { declaredShape } from '../../procedures/declareErrors.ts';
import { LimitError, retryAfterSecondsOf } from '../../procedures/limitError.ts';
import type { Procedure } from '../../procedures/procedure.ts';
import { statusOf, type RouterConfig } from './routerConfig.ts';

type ShapeOptions = Omit<Parameters<typeof getErrorShape>[0], 'config'>;

export interface EncodedError {
  readonly text: string;
  readonly shape: object;
  /** The error that replaces one whose text is too large. */
  readonly replacement: LimitError | undefined;
}

export interface TrpcErrorOptions {
  readonly maxResponseSize: number;
  /** Whether clients receive no stack, and no message of an unexpected error (`maskUnexpectedErrors`). */
  readonly isMasked: boolean;
  /** Receives each error outside of a procedure before its response. */
  readonly reportError: ReportError | undefined;
}

export const jsonType: Header = ['content-type', 'application/json'];

/** Converts errors to what clients of tRPC receive. */
export class TrpcErrors {
  readonly #config: RouterConfig;
  readonly #configWithoutStack: RouterConfig;
  readonly #options: TrpcErrorOptions;

  constructor(config: RouterConfig, options: TrpcErrorOptions) {
    this.#config = options.isMasked ? maskedConfig(config) : config;
    this.#configWithoutStack = { ...this.#config, isDev: false };
    this.#options = options;
  }

  /**
   * Formats an error with the router's `errorFormatter`.
   * @param hidesStack whether the shape has no stack, even with `isDev`: over REST, and of an error outside of a
   * procedure, whose stack would be the gateway's
   */
  shapeOf(options: ShapeOptions, hidesStack = false): TRPCErrorShape {
    const { error } = options;
    let config = hidesStack ? this.#configWithoutStack : this.#config;
    // A mapped error is formatted as if its procedure declared it.
    if (isMappedDeclared(error))
      config = { ...config, errorFormatter: ({ shape }) => declaredShape(error, shape) as never };
    const shape = requireSync(
      getErrorShape({ config, ...options }) as TRPCErrorShape,
      'A formatter in .errors()',
    );
    // A formatter of `.errors()` has run before, with tRPC's own shape: its message, and with `isDev` its stack.
    const { isMasked } = this.#options;
    if (!(isMasked || hidesStack) || !isFormatted(error)) return shape;
    return isMasked ? maskedShape(shape, error) : shapeWithoutStack(shape);
  }

  /** Encodes the shape of an error as JSON. One that is replaced, since it is too large, is recorded in the context. */
  encode(shape: object, context: RequestContext, sentBytes?: number): EncodedError {
    const { output } = this.#config.transformer;
    // The result of `transformTRPCResponse`, which takes 0.6 µs more: 5% of a failed call.
    const envelope = (each: object) => ({ error: output.serialize(each) as unknown });
    const encoded = encodeError(shape, envelope, this.#options.maxResponseSize, sentBytes);
    if (encoded.replacement) context.outcome.limit = encoded.replacement.limit;
    return encoded;
  }

  /**
   * Responds with an error outside of a procedure. It is not in the form of a batch: every link of the tRPC client
   * accepts it. Unexpected errors (5xx) and limits are recorded in the context.
   * @param isReported whether `onError` has received the error
   */
  response(
    error: TRPCError,
    context: RequestContext,
    headers: readonly Header[] = [jsonType],
    isReported = false,
  ): OutgoingResponse {
    if (!isReported) this.#options.reportError?.({ error, request: context.request, ...unknownCall });
    let status = 500;
    let body: string;
    let shown = error;
    try {
      const encoded = this.encode(this.shapeOf({ error, ...unknownCall }, true), context);
      shown = encoded.replacement ?? error;
      body = encoded.text;
      status = statusOf({ error: encoded.shape } as never, [shown]);
    } catch {
      // The router's `errorFormatter` has thrown, or its result cannot be encoded.
      body = this.#genericErrorBody(context);
    }
    const { outcome } = context;
    outcome.endedWith(codeOf(shown));
    if (shown instanceof LimitError) outcome.limit = shown.limit;
    else if (status >= 500) {
      outcome.error = error;
      outcome.failedCalls = undefined;
    }
    return new OutgoingResponse(status, [...headers, ...retryAfterHeader([shown])], body);
  }

  /** Encodes `genericErrorShape`, without the router's transformer if that throws. It never throws. */
  #genericErrorBody(context: RequestContext): string {
    try {
      return this.encode(genericErrorShape, context).text;
    } catch {
      return JSON.stringify({ error: genericErrorShape });
    }
  }
}

/** Returns a configuration whose `errorFormatter` receives shapes without stack and without unexpected messages. */
const maskedConfig = (config: RouterConfig): RouterConfig => ({
  ...config,
  isDev: false,
  errorFormatter: (options) =>
    config.errorFormatter({ ...options, shape: maskedShape(options.shape, options.error) }) as never,
});

/** Returns a shape without the stack that tRPC adds with `isDev`, and without the message of an unexpected error. */
function maskedShape<Shape extends { readonly message?: unknown; readonly data?: unknown }>(
  shape: Shape,
  error: TRPCError,
): Shape {
  const message = clientMessage(error);
  const isShown = message === error.message || shape.message !== error.message;
  const withoutStack = shapeWithoutStack(shape);
  return isShown ? withoutStack : { ...withoutStack, message };
}

/** Returns a shape without the stack that tRPC adds with `isDev`. */
function shapeWithoutStack<Shape extends { readonly data?: unknown }>(shape: Shape): Shape {
  const { stack, ...data } = { stack: undefined, ...(shape.data as object | undefined) };
  return stack === undefined ? shape : { ...shape, data };
}

/**
 * Encodes the shape of an error as JSON. One that is too large is replaced by a 413 in tRPC's own shape: that of the
 * router's `errorFormatter` might be too large again.
 * @param envelope returns what is encoded: the shape, serialized by the transformer, within its message
 * @param sentBytes the part of `maxBytes` that earlier results of its batch have taken
 */
export function encodeError(
  shape: object,
  envelope: (shape: object) => unknown,
  maxBytes: number,
  sentBytes = 0,
): EncodedError {
  let replacement: LimitError;
  try {
    const text = boundedJson(envelope(shape), maxErrorBytes(maxBytes)) ?? 'null';
    const exceedsBatch = sentBytes > 0 && utf8Length(text) > maxErrorBytes(maxBytes - sentBytes);
    if (!exceedsBatch) return { text, shape, replacement: undefined };
    replacement = batchTooLarge(maxBytes);
  } catch (cause) {
    if (!(cause instanceof LimitError)) throw cause;
    replacement = errorTooLarge(maxBytes);
  }
  const standIn = defaultShape(replacement);
  return { text: JSON.stringify(envelope(standIn)), shape: standIn, replacement };
}

/** Returns tRPC's own shape of an error, without the router's `errorFormatter`. */
const defaultShape = (error: TRPCError): object =>
  getErrorShape({
    config: { isDev: false, errorFormatter: ({ shape }) => shape } as RouterConfig,
    error,
    ...unknownCall,
  });

/** The error for a `Blob` of a procedure with `produces` (REST): as JSON it is `{}`. Others may have a transformer. */
export const blobError = (procedure: Procedure | undefined): TRPCError | undefined =>
  procedure?.rest?.produces
    ? new TRPCError({
        code: 'UNSUPPORTED_MEDIA_TYPE',
        message: `Procedure "${procedure.path}" returned a Blob, which tRPC cannot send. Call it over REST.`,
      })
    : undefined;

/** The shape that tRPC's adapters (@trpc/server 11.25) send if an error cannot be formatted. */
export const genericErrorShape = {
  code: -32603,
  message: 'Internal server error',
  data: { code: 'INTERNAL_SERVER_ERROR', httpStatus: 500 },
};

/** Returns `Retry-After` for a response with errors: the longest of their times. */
export function retryAfterHeader(errors: readonly TRPCError[]): readonly Header[] {
  const seconds = errors.flatMap((error) => retryAfterSecondsOf(error, errorStatusOf(error)) ?? []);
  return seconds.length === 0 ? [] : [['retry-after', String(Math.max(...seconds))]];
}
