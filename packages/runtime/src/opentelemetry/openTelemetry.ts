import type * as Api from '@opentelemetry/api';
import type { Attributes, Context, Span, TextMapGetter } from '@opentelemetry/api';
import type {
  CallTelemetry,
  RequestRecord,
  HttpRequest,
  ObservedRequest,
  RequestTelemetry,
  Telemetry,
  TraceIds,
} from 'trpc-gateway';
import { serverErrors } from '../failedCalls.ts';
import { connectionAttributes, methodOf, outcomeAttributes, requestAttributes } from './attributes.ts';

/** The global symbol under which an OpenTelemetry SDK registers itself (@opentelemetry/api 1.x). */
const registry = Symbol.for('opentelemetry.js.api.1');

export interface OpenTelemetry extends Telemetry {
  /** Returns the ids of the active span as log fields: `openLog({ fields: telemetry?.logFields, … })`. */
  readonly logFields: () => TraceFields | Readonly<Record<string, never>>;
}

/** The field names of OpenTelemetry for logs that are not OTLP ("Trace Context in non-OTLP Log Formats"). */
interface TraceFields {
  readonly trace_id: string;
  readonly span_id: string;
}

/** Bucket boundaries in seconds, as the conventions recommend (HTTP metrics, `http.server.request.duration`). */
const explicitBucketBoundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/**
 * Creates traces and metrics of a gateway, following the semantic conventions of OpenTelemetry for HTTP and RPC:
 * `createGateway({ telemetry: await openTelemetry(), … })`. It uses the SDK that is registered at the time of the call. If
 * there is none, it returns `undefined` and loads nothing.
 * @throws {Error} if an SDK is registered but @opentelemetry/api is not installed
 */
export async function openTelemetry(): Promise<OpenTelemetry | undefined> {
  const registered = (globalThis as { [registry]?: { trace?: unknown; metrics?: unknown } })[registry];
  if (registered?.trace === undefined && registered?.metrics === undefined) return undefined;
  const api = await import('@opentelemetry/api').catch((cause: unknown) => {
    throw new Error(
      'An OpenTelemetry SDK is registered, but @opentelemetry/api cannot be imported: install it beside trpc-gateway-runtime.',
      { cause },
    );
  });
  const instruments = createInstruments(api);
  return {
    begin: (observed) => new RequestSpan(instruments, observed),
    logFields() {
      const active = instruments.idsOf(api.trace.getActiveSpan());
      return active ? { trace_id: active.traceId, span_id: active.spanId } : {};
    },
  };
}

type Instruments = ReturnType<typeof createInstruments>;

/** Creates the tracer and the metrics of a gateway, with the API that has been loaded. */
function createInstruments(api: typeof Api) {
  const meter = api.metrics.getMeter('trpc-gateway');
  const durationOptions = { unit: 's', advice: { explicitBucketBoundaries } };
  return {
    api,
    tracer: api.trace.getTracer('trpc-gateway'),
    requestDuration: meter.createHistogram('http.server.request.duration', {
      description: 'Duration of HTTP server requests.',
      ...durationOptions,
    }),
    activeRequests: meter.createUpDownCounter('http.server.active_requests', {
      description: 'Number of active HTTP server requests.',
      unit: '{request}',
    }),
    callDuration: meter.createHistogram('rpc.server.call.duration', {
      description: 'Measures the duration of an incoming Remote Procedure Call (RPC).',
      ...durationOptions,
    }),

    /** Returns the ids of a span; `undefined` if they are invalid, as they are if only metrics are registered. */
    idsOf(span: Span | undefined): TraceIds | undefined {
      const ids = span?.spanContext();
      return ids && api.isSpanContextValid(ids) ? { traceId: ids.traceId, spanId: ids.spanId } : undefined;
    },
  };
}

/** A span of kind SERVER and its context. */
class ServerSpan {
  /** `undefined` if only metrics are registered. */
  readonly trace: TraceIds | undefined;
  protected readonly context: Context;
  protected readonly instruments: Instruments;
  readonly #span: Span;
  readonly #startedAt = performance.now();

  constructor(instruments: Instruments, name: string, parent: Context, attributes: Attributes) {
    const { api, tracer } = instruments;
    this.instruments = instruments;
    this.#span = tracer.startSpan(name, { kind: api.SpanKind.SERVER, attributes }, parent);
    this.context = api.trace.setSpan(parent, this.#span);
    this.trace = instruments.idsOf(this.#span);
  }

  run<Result>(run: () => Result): Result {
    return this.instruments.api.context.with(this.context, run);
  }

  /** Ends the span. @returns its duration in seconds */
  protected finish(attributes: Attributes, isError: boolean): number {
    this.#span.setAttributes(attributes);
    // Client errors leave the status of a server span unset (HTTP spans, "Status").
    if (isError) this.#span.setStatus({ code: this.instruments.api.SpanStatusCode.ERROR });
    this.#span.end();
    return (performance.now() - this.#startedAt) / 1000;
  }
}

/** Telemetry of a procedure call: a span and its duration. */
class CallSpan extends ServerSpan implements CallTelemetry {
  readonly #labels: Attributes;

  constructor(
    instruments: Instruments,
    path: string,
    parent: Context,
    { labels, connection }: { readonly labels: Attributes; readonly connection: Attributes },
  ) {
    super(instruments, path, parent, { ...labels, ...connection });
    this.#labels = labels;
  }

  end(error: Parameters<CallTelemetry['end']>[0]): void {
    const code = error?.code ?? 'OK';
    const outcome = { 'rpc.response.status_code': code, ...(error && { 'error.type': code }) };
    const seconds = this.finish(outcome, error !== undefined && serverErrors.has(code));
    this.instruments.callDuration.record(seconds, { ...this.#labels, ...outcome }, this.context);
  }
}

/** Telemetry of a request: a span and metrics. */
class RequestSpan extends ServerSpan implements RequestTelemetry {
  readonly #parent: Context;
  readonly #connection: Attributes;
  /** The metric labels that are known when the request starts. */
  readonly #labels: Attributes;
  readonly #observed: ObservedRequest;
  #hasEnded = false;

  constructor(instruments: Instruments, observed: ObservedRequest) {
    const { request, route, scheme } = observed;
    const { propagation, ROOT_CONTEXT } = instruments.api;
    const parent = propagation.extract(ROOT_CONTEXT, request, headerGetter);
    const connection = connectionAttributes(observed);
    const method = methodOf(request.method).replace('_OTHER', 'HTTP');
    const name = route === undefined ? method : `${method} ${route}`;
    super(instruments, name, parent, { ...requestAttributes(observed), ...connection });
    this.#observed = observed;
    this.#parent = parent;
    this.#connection = connection;
    this.#labels = { 'http.request.method': methodOf(request.method), 'url.scheme': scheme };
    instruments.activeRequests.add(1, this.#labels, this.context);
  }

  call(path: string): CallTelemetry | undefined {
    // A REST request is one call and needs no second span. A tool has one, since all share a path.
    const { protocol } = this.#observed;
    if (protocol !== 'trpc' && protocol !== 'mcp') return undefined;
    // Calls on a WebSocket follow the response that opened it. Their parent is the client's span.
    const parent = this.#hasEnded ? this.#parent : this.context;
    const attributes = { labels: rpcAttributes(protocol, path), connection: this.#connection };
    return new CallSpan(this.instruments, path, parent, attributes);
  }

  end(record: RequestRecord): void {
    const { error, isStream, status } = record;
    this.#hasEnded = true;
    const { protocol, request, route } = this.#observed;
    // A stream may fail after its status was sent. For tRPC the call reports that error.
    const isError = status >= 500 || (isStream && error !== undefined && protocol !== 'trpc');
    const outcome: Attributes = {
      'http.response.status_code': status,
      ...(route !== undefined && { 'http.route': route }),
      ...(isError && { 'error.type': status >= 500 ? String(status) : errorName(error) }),
    };
    const seconds = this.finish({ ...outcome, ...outcomeAttributes(record) }, isError);
    const { activeRequests, requestDuration } = this.instruments;
    activeRequests.add(-1, this.#labels, this.context);
    const version = request.httpVersion;
    const labels = { ...this.#labels, ...outcome };
    if (version !== undefined) labels['network.protocol.version'] = version;
    requestDuration.record(seconds, labels, this.context);
  }
}

/** The conventions define names for gRPC, Connect, Dubbo and JSON-RPC only, so `trpc` is a custom value. */
const rpcAttributes = (protocol: 'trpc' | 'mcp', path: string): Attributes => ({
  'rpc.system.name': protocol === 'mcp' ? 'jsonrpc' : protocol,
  'rpc.method': path,
});

const errorName = (error: unknown): string => (error instanceof Error ? error.name : '_OTHER');

const headerGetter: TextMapGetter<HttpRequest> = {
  get: (request, name) => request.header(name.toLowerCase()),
  keys: (request) => Array.from(request.headers(), ([name]) => name),
};
