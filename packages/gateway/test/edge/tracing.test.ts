import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startEdge } from './startEdge.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const traceparent = `00-${traceId}-b7ad6b7169203331-01`;

/** Registers an SDK, as a process does before it creates its gateway. */
function registerSdk(): InMemorySpanExporter {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  onTestFinished(async () => {
    await provider.shutdown();
    trace.disable();
    context.disable();
    propagation.disable();
  });
  return exporter;
}

describe('a call, where an OpenTelemetry SDK is registered', () => {
  it('is a server span named by its operation, within the trace that the request is part of', async () => {
    const exporter = registerSdk();
    const { ask, dial, post } = await startEdge();
    await ask('/v1/list?tag=secret', { headers: { traceparent } });
    await post('/trpc/write', { value: 1 }, { traceparent });
    await ask('/trpc/list,open?batch=1', { headers: { traceparent } });
    const { call } = await dial('/trpc', { traceparent });
    await call({ id: 1, method: 'query', params: { path: 'list' } });
    const spans = exporter.getFinishedSpans();
    // Those of a batch run at once: they end as they like.
    expect(spans.map(({ name }) => name).toSorted()).toEqual(['list', 'list', 'list', 'open', 'write']);
    for (const span of spans) {
      expect(span.kind).toBe(SpanKind.SERVER);
      expect(span.spanContext().traceId).toBe(traceId);
      expect(span.parentSpanContext?.spanId).toBe('b7ad6b7169203331');
      expect(JSON.stringify(span.attributes)).not.toMatch(/secret|good-key/);
    }
    expect(spans[0]?.attributes).toEqual({ 'http.request.method': 'GET', 'url.path': '/v1/list' });
  });

  it('is the span that what its procedure does is a child of', async () => {
    const exporter = registerSdk();
    const { ask } = await startEdge();
    const others = ['11', '22'].map((end) => `00-${traceId.slice(0, -2)}${end}-b7ad6b7169203331-01`);
    await Promise.all(others.map((other) => ask('/v1/slow?ms=20', { headers: { traceparent: other } })));
    const spans = exporter.getFinishedSpans();
    const calls = new Map(
      spans.filter(({ name }) => name === 'slow').map((span) => [span.spanContext().spanId, span]),
    );
    const work = spans.filter(({ name }) => name === 'work');
    expect([calls.size, work.length]).toEqual([2, 2]);
    for (const span of work) {
      const parent = calls.get(span.parentSpanContext?.spanId ?? '');
      expect(parent?.spanContext().traceId).toBe(span.spanContext().traceId);
    }
  });

  it('is failed where the server is to blame, and only there', async () => {
    const exporter = registerSdk();
    const { ask } = await startEdge();
    await ask('/v1/broken');
    await ask('/v1/slow?ms=x');
    const spans = exporter.getFinishedSpans();
    const calls = spans.filter(({ name }) => name !== 'work');
    expect(
      calls.map(({ name, status, attributes }) => [name, status.code, attributes['error.type']]),
    ).toEqual([
      ['broken', SpanStatusCode.ERROR, 'INTERNAL_SERVER_ERROR'],
      ['slow', SpanStatusCode.UNSET, 'BAD_REQUEST'],
    ]);
  });

  it('begins a trace of its own where the request has none, or one that is malformed', async () => {
    const exporter = registerSdk();
    const { ask } = await startEdge();
    for (const headers of [{}, { traceparent: '00-zz' }]) await ask('/v1/list', { headers });
    const spans = exporter.getFinishedSpans();
    expect(spans.map(({ parentSpanContext }) => parentSpanContext)).toEqual([undefined, undefined]);
  });
});

it('nothing of OpenTelemetry is loaded where no SDK is registered', async () => {
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
    const { createGateway } = await import('@petstore/gateway');
    const { initTRPC } = await import('@trpc/server');
    await createGateway({ router: initTRPC.create().router({}), createContext: () => ({}), document: { title: 'x', version: '1' } });
    console.log(JSON.stringify(loaded.filter((url) => url.includes('opentelemetry'))), loaded.length > 10);
  `;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=@petstore/source', '--input-type=module', '-e', script],
    { cwd: import.meta.dirname },
  );
  expect(stdout.trim()).toBe('[] true');
});
