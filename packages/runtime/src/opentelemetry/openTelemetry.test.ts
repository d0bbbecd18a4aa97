import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Attributes,
  context,
  type MeterProvider,
  type MetricOptions,
  metrics,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { createGateway, type RequestRecord, type GatewayOptions } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { serve } from 'trpc-gateway/node';
import { initTRPC, TRPCError } from '@trpc/server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { startService } from '../service.ts';
import { openTelemetry } from './index.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const parentId = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${parentId}-01`;

/** Called within the call of `slow`. */
let onSlow = () => {};

const t = initTRPC.meta<GatewayMeta>().create();
const router = t.router({
  pet: t.procedure
    .meta({ openapi: { method: 'GET', path: '/pets/{id}' } })
    .input(z.object({ id: z.int(), token: z.string().optional() }))
    .output(z.int())
    .query(({ input }) => input.id),
  /** Waits, and starts a span of its own. */
  slow: t.procedure
    .meta({ openapi: { method: 'GET', path: '/slow' } })
    .output(z.string())
    .query(async () => {
      await sleep(5);
      trace.getTracer('work').startSpan('work').end();
      onSlow();
      return 'slow';
    }),
  broken: t.procedure
    .meta({ openapi: { method: 'GET', path: '/broken' } })
    .output(z.string())
    .query(() => {
      throw new Error('disk on fire');
    }),
  full: t.procedure.meta({ mcp: { enabled: true, description: 'A tool of the tests.' } }).query(() => {
    throw new TRPCError({ code: 'SERVICE_UNAVAILABLE' });
  }),
  ticks: t.procedure
    .meta({ openapi: { method: 'GET', path: '/ticks', event: z.int() } })
    .subscription(async function* () {
      yield 1;
      throw new Error('clock stopped');
    }),
});

interface Instrument {
  readonly name: string;
  readonly options: MetricOptions | undefined;
  readonly values: { readonly value: number; readonly attributes: Attributes }[];
}

/** Creates a meter provider that keeps recorded values. The metrics SDK is not a dependency. */
function recordingMeters() {
  const instruments: Instrument[] = [];
  const create = (name: string, options?: MetricOptions) => {
    const values: Instrument['values'] = [];
    instruments.push({ name, options, values });
    const record = (value: number, attributes: Attributes = {}) => void values.push({ value, attributes });
    return { add: record, record };
  };
  const meter = { createHistogram: create, createUpDownCounter: create };
  const provider = { getMeter: () => meter } as unknown as MeterProvider;
  const named = (name: string) => instruments.find((instrument) => instrument.name === name);
  return { provider, instruments, named };
}

/** Registers an SDK, creates a gateway and serves the router. */
async function start(options: Partial<GatewayOptions<typeof router, never>> = {}, { hasTraces = true } = {}) {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const meters = recordingMeters();
  if (hasTraces) trace.setGlobalTracerProvider(provider);
  metrics.setGlobalMeterProvider(meters.provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  onTestFinished(async () => {
    await provider.shutdown();
    for (const api of [trace, metrics, context, propagation]) api.disable();
  });
  const records: RequestRecord[] = [];
  const gateway = await createGateway({
    router,
    createContext: () => ({}),
    document: { title: 'Pets', version: '0.0.0' },
    onResponse: (requestRecord) => void records.push(requestRecord),
    telemetry: await openTelemetry(),
    ...options,
  });
  const listening = await serve(gateway, { port: 0 });
  onTestFinished(async () => void (await listening.close({ timeoutMs: 0 })));
  return {
    requestRecords: records,
    ...meters,
    port: listening.port,
    spans: () => exporter.getFinishedSpans(),
    get: async (path: string, headers: Record<string, string> = { traceparent }) => {
      const response = await fetch(`http://127.0.0.1:${listening.port}${path}`, { headers });
      return response.text();
    },
  };
}

type Started = Awaited<ReturnType<typeof start>>;
const spanNamed = ({ spans }: Started, name: string) => {
  const span = spans().find((each) => each.name === name);
  if (span === undefined) throw new Error(`There is no span ${name}.`);
  return span;
};

// Which attributes are required say the semantic conventions 1.45: HTTP spans and metrics, RPC spans and metrics.

it('spans and metrics have names of the semantic conventions only, but for those of the gateway, and an unknown method is _OTHER', async () => {
  const started = await start();
  await started.get('/trpc/pet,full?batch=1&input={}', { traceparent, 'user-agent': 'curl/8' });
  await fetch(`http://127.0.0.1:${started.port}/v1/pets/7`, { method: 'PURGE' });
  const metricNames = started.instruments.map(({ name }) => name);
  const attributes = [
    ...started.spans().map((span) => span.attributes),
    ...started.instruments.flatMap(({ values }) => values.map((each) => each.attributes)),
  ].flatMap((each) => Object.keys(each));
  const known = new Set<unknown>(Object.values(conventions));
  const others = [...new Set([...metricNames, ...attributes])].filter((name) => !known.has(name));
  expect(others).toEqual(['trpc_gateway.call_errors']);
  expect(spanNamed(started, 'HTTP /v1/pets/{id}').attributes).toMatchObject({
    'http.request.method': '_OTHER',
    'http.request.method_original': 'PURGE',
  });
});

it('the duration of a failing call, and of its request, is recorded with the attributes of both', async () => {
  const started = await start();
  await started.get('/trpc/full');
  const method = { 'http.request.method': 'GET', 'url.scheme': 'http' };
  const rpc = { 'rpc.system.name': 'trpc', 'rpc.method': 'full' };
  const full = { 'rpc.response.status_code': 'SERVICE_UNAVAILABLE', 'error.type': 'SERVICE_UNAVAILABLE' };
  expect(started.named('rpc.server.call.duration')).toMatchObject({
    options: { unit: 's' },
    values: [{ attributes: { ...rpc, ...full } }],
  });
  expect(started.named('http.server.request.duration')).toMatchObject({
    options: { unit: 's' },
    values: [
      {
        attributes: {
          ...method,
          'http.route': '/trpc/{path}',
          'http.response.status_code': 503,
          'error.type': '503',
        },
      },
    ],
  });
  const call = spanNamed(started, 'full');
  expect([call.kind, call.attributes]).toMatchObject([
    SpanKind.SERVER,
    { ...rpc, ...full, 'server.address': '127.0.0.1', 'server.port': started.port },
  ]);
});

it('a call of a tool has a span below that of its request, with the error that its result has', async () => {
  const started = await start({ mcp: mcp() });
  await fetch(`http://127.0.0.1:${started.port}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', traceparent },
    body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"full"}}',
  });
  const request = spanNamed(started, 'POST /mcp');
  const call = spanNamed(started, 'full');
  expect(call.parentSpanContext?.spanId).toBe(request.spanContext().spanId);
  expect(call.attributes).toMatchObject({
    'rpc.system.name': 'jsonrpc',
    'rpc.method': 'full',
    'rpc.response.status_code': 'SERVICE_UNAVAILABLE',
  });
  expect([call.status.code, request.status.code]).toEqual([SpanStatusCode.ERROR, SpanStatusCode.UNSET]);
  expect(request.attributes).toMatchObject({
    'http.response.status_code': 200,
    'trpc_gateway.call_errors': ['SERVICE_UNAVAILABLE'],
  });
});

describe('a request', () => {
  it('a request creates a server span in the trace of its traceparent, with redacted query values, and its record has the ids', async () => {
    const started = await start();
    await started.get('/v1/pets/7?token=secret&a=b', { traceparent, 'user-agent': 'curl/8' });
    const span = spanNamed(started, 'GET /v1/pets/{id}');
    const { spanId, traceId: ofTrace } = span.spanContext();
    expect([span.kind, ofTrace, span.parentSpanContext?.spanId]).toEqual([
      SpanKind.SERVER,
      traceId,
      parentId,
    ]);
    expect(started.requestRecords).toMatchObject([{ trace: { traceId, spanId } }]);
    expect(span.attributes).toEqual({
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'http.route': '/v1/pets/{id}',
      'url.path': '/v1/pets/7',
      'url.query': 'token=REDACTED&a=REDACTED',
      'url.scheme': 'http',
      'server.address': '127.0.0.1',
      'server.port': started.port,
      'client.address': '127.0.0.1',
      'network.peer.address': '127.0.0.1',
      'network.protocol.version': '1.1',
      'user_agent.original': 'curl/8',
    });
  });

  it('the span of a request is the parent of spans in its procedure, over REST and tRPC', async () => {
    const started = await start();
    const ids = ['11', '22'].map((end) => traceId.slice(0, -2) + end);
    const [rest, rpc] = ids.map((id) => ({ traceparent: `00-${id}-${parentId}-01` }));
    await Promise.all([started.get('/v1/slow', rest), started.get('/trpc/slow', rpc)]);
    const work = started.spans().filter(({ name }) => name === 'work');
    const parentOf = (id: string | undefined) => {
      const span = work.find((each) => each.spanContext().traceId === id);
      const parent = span?.parentSpanContext?.spanId;
      return started.spans().find((each) => each.spanContext().spanId === parent)?.name;
    };
    expect(ids.map(parentOf)).toEqual(['GET /v1/slow', 'slow']);
  });

  it('a request span has the status ERROR for server errors only', async () => {
    const started = await start();
    for (const path of ['/v1/broken', '/v1/pets/x', '/v1/ticks', '/openapi.json']) await started.get(path);
    await vi.waitFor(() => expect(started.spans()).toHaveLength(4));
    const errors = started
      .spans()
      .map(({ attributes, status }) => [attributes['http.route'], status.code, attributes['error.type']]);
    expect(errors).toEqual([
      ['/v1/broken', SpanStatusCode.ERROR, '500'],
      ['/v1/pets/{id}', SpanStatusCode.UNSET, undefined],
      ['/v1/ticks', SpanStatusCode.ERROR, expect.any(String)],
      ['/openapi.json', SpanStatusCode.UNSET, undefined],
    ]);
  });

  it('a request is active until its response is complete, and its duration is recorded with the recommended buckets', async () => {
    const started = await start();
    await started.get('/v1/slow');
    const active = started.named('http.server.active_requests')?.values;
    const labels = { 'http.request.method': 'GET', 'url.scheme': 'http' };
    expect(active).toEqual([
      { value: 1, attributes: labels },
      { value: -1, attributes: labels },
    ]);
    expect(started.named('http.server.active_requests')?.options?.unit).toBe('{request}');
    const duration = started.named('http.server.request.duration');
    expect(duration?.values[0]?.value).toBeGreaterThan(0.004);
    expect(duration?.options?.advice?.explicitBucketBoundaries).toEqual([
      0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
    ]);
  });

  it('a request span has the scheme of publicUrl', async () => {
    const started = await start({ publicUrl: 'https://pets.example' });
    await started.get('/v1/pets/7');
    expect(spanNamed(started, 'GET /v1/pets/{id}').attributes['url.scheme']).toBe('https');
  });

  it('a request record has no trace ids if the SDK has metrics only', async () => {
    const started = await start({}, { hasTraces: false });
    await started.get('/v1/pets/7', {});
    const [record] = started.requestRecords;
    expect([record?.status, record?.trace]).toEqual([200, undefined]);
  });
});

describe('a call over tRPC', () => {
  it('each tRPC call of a batch is a child span of its request', async () => {
    const started = await start();
    await started.get('/trpc/slow,full,pet?batch=1');
    const { spanId } = spanNamed(started, 'GET /trpc/{path}').spanContext();
    const calls = ['slow', 'full', 'pet'].map((name) => spanNamed(started, name));
    expect(calls.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual(calls.map(() => spanId));
    expect(
      calls.map(({ attributes, status }) => [attributes['rpc.response.status_code'], status.code]),
    ).toEqual([
      ['OK', SpanStatusCode.UNSET],
      ['SERVICE_UNAVAILABLE', SpanStatusCode.ERROR],
      // An error of the client.
      ['BAD_REQUEST', SpanStatusCode.UNSET],
    ]);
  });

  it('a tRPC call on a WebSocket is a span in the trace of the upgrade request', async () => {
    const started = await start();
    const socket = new WebSocket(`ws://127.0.0.1:${started.port}/trpc`, {
      headers: { traceparent },
    });
    await once(socket, 'open');
    socket.send(JSON.stringify({ id: 1, method: 'query', params: { path: 'slow' } }));
    await once(socket, 'message');
    socket.close();
    expect(spanNamed(started, 'GET /trpc').attributes['http.response.status_code']).toBe(101);
    const call = spanNamed(started, 'slow');
    const { spanId } = call.spanContext();
    expect([call.spanContext().traceId, call.parentSpanContext?.spanId]).toEqual([traceId, parentId]);
    expect(started.requestRecords.at(-1)).toMatchObject({ method: 'WS', trace: { traceId, spanId } });
  });
});

it('startService passes telemetry to the gateway and to the log', async () => {
  const started = await start();
  const logged: unknown[] = [];
  onSlow = () => void logged.push(logFields?.());
  onTestFinished(() => void (onSlow = () => {}));
  let logFields: (() => object) | undefined;
  const line = () => {};
  const service = await startService({
    server: 'node',
    telemetry: openTelemetry,
    log: {
      open({ fields }) {
        logFields = fields;
        return { log: { info: line, warn: line, error: line, fatal: line }, end: async () => {} };
      },
    },
    start: async ({ options }) => ({
      gateway: await createGateway({
        ...options,
        router,
        createContext: () => ({}),
        document: { title: 'Pets', version: '0.0.0' },
      }),
    }),
  });
  onTestFinished(() => service.close({ drainMs: 0 }));
  await (await fetch(`${service.origin}/v1/slow`)).text();
  const { spanId, traceId: ofTrace } = spanNamed(started, 'GET /v1/slow').spanContext();
  expect(logged).toEqual([{ trace_id: ofTrace, span_id: spanId }]);
  // Outside a request.
  expect(logFields?.()).toEqual({});
});
