import type { Span, TextMapGetter } from '@opentelemetry/api';
import { TRPCError } from '@trpc/server';
import { getHTTPStatusCodeFromError } from '@trpc/server/http';
import type { HttpRequest } from '../http/request.ts';
import { Failure } from '../procedures/execute.ts';
import { GatewayError } from '../procedures/gatewayError.ts';

/** Runs a call within a server span that is named by its operation, and goes on with the trace of its `traceparent`. */
export type Tracing = <T>(operation: string, request: HttpRequest, run: () => T | Promise<T>) => Promise<T>;

/** Where an OpenTelemetry SDK leaves itself when it is registered (@opentelemetry/api 1.x). */
const registry = Symbol.for('opentelemetry.js.api.1');

/**
 * Tracing by the OpenTelemetry SDK that is registered now; `undefined`, and nothing is loaded, where none is.
 */
export async function loadTracing(): Promise<Tracing | undefined> {
  const registered = (globalThis as { [registry]?: { trace?: unknown } })[registry];
  if (registered?.trace === undefined) return undefined;
  const { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = await loadApi();
  const tracer = trace.getTracer('@petstore/gateway');

  function failed(span: Span, cause: unknown): void {
    const status = cause instanceof TRPCError ? getHTTPStatusCodeFromError(cause) : 500;
    span.setAttribute('error.type', cause instanceof TRPCError ? cause.code : 'INTERNAL_SERVER_ERROR');
    // What a client did wrong is no error of the server's (OpenTelemetry semantic conventions, HTTP spans).
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  }

  return (operation, request, run) => {
    const parent = propagation.extract(ROOT_CONTEXT, request, carrier);
    const attributes = { 'http.request.method': request.method, 'url.path': request.path };
    const span = tracer.startSpan(operation, { kind: SpanKind.SERVER, attributes }, parent);
    return context.with(trace.setSpan(parent, span), async () => {
      try {
        const output = await run();
        if (output instanceof Failure) failed(span, output.error);
        return output;
      } catch (cause) {
        failed(span, cause);
        throw cause;
      } finally {
        span.end();
      }
    });
  };
}

/** @throws {GatewayError} where it is not installed, which bundlers allow for an import within `try` */
async function loadApi() {
  try {
    return await import('@opentelemetry/api');
  } catch (cause) {
    throw new GatewayError(
      'An OpenTelemetry SDK is registered, but @opentelemetry/api cannot be imported: install it beside @petstore/gateway.',
      { cause },
    );
  }
}

const carrier: TextMapGetter<HttpRequest> = {
  get: (request, name) => request.header(name.toLowerCase()),
  keys: (request) => Array.from(request.headers(), ([name]) => name),
};
