import type { AnyTRPCRouter } from '@trpc/server';
import type { HttpRequest } from '../../http/request.ts';
import { eventAnswer, type EventRouter } from './eventAnswer.ts';
import { EventInputs } from './eventInputs.ts';
import type { LineOptions } from './lineAnswer.ts';
import { plainCall } from './plainCall.ts';
import { isPlainRouter, type PlainReader, type PlainReaderOptions } from './plainRequest.ts';

/** Reads subscriptions. @returns `undefined` where none of the router's can be answered so */
export function createFastEvents<Router extends AnyTRPCRouter>(
  options: PlainReaderOptions<Router>,
): PlainReader<LineOptions> | undefined {
  const { basePath, calls, definitions, limits } = options;
  const { onError } = options.rpc;
  const config = options.router._def._config;
  const { enabled = true, emitAndEndImmediately, client = {}, maxDurationMs, ping } = config.sse ?? {};
  const pingMs = ping?.enabled ? (ping.intervalMs ?? 1000) : undefined;
  const { reconnectAfterInactivityMs } = client;
  const subscriptions = new Map(
    definitions.filter(({ type }) => type === 'subscription').map((one) => [one.path, one]),
  );
  if (subscriptions.size === 0 || !enabled || emitAndEndImmediately) return undefined;
  if (!isPlainRouter(options)) return undefined;
  // tRPC refuses this, with every answer.
  if (pingMs && reconnectAfterInactivityMs && pingMs > reconnectAfterInactivityMs) return undefined;
  const shared: EventRouter<Router> = {
    config,
    calls,
    onError,
    events: {
      serialize: (data): unknown => config.transformer.output.serialize(data),
      client: JSON.stringify(client),
      pingMs: pingMs === undefined || !(pingMs > 0) || pingMs === Infinity ? undefined : pingMs,
      maxDurationMs,
      maxEventBytes: limits.maxResponseBytes,
    },
  };

  return (request) => {
    if (request.method !== 'GET') return undefined;
    const path = request.path.slice(basePath.length + 1);
    const definition = subscriptions.get(path);
    if (definition === undefined) return undefined;
    const plain = plainCall(request, basePath);
    if (plain === undefined || plain.isBatch) return undefined;
    const lastEventId = lastEventIdOf(request);
    const inputs = new EventInputs(plain, config.transformer.input, lastEventId);
    return {
      paths: plain.paths,
      answer: (asked) => eventAnswer(shared, request, asked, definition, inputs, lastEventId),
    };
  };
}

/** The event that a client had last: of the header, else of the query. */
function lastEventIdOf(request: HttpRequest): string | null {
  const values: string[] = [];
  for (const [name, value] of request.headers()) if (name === 'last-event-id') values.push(value);
  if (values.length > 0) return values.join(', ');
  if (!/last-?event-?id/i.test(request.query)) return null;
  const parameters = new URLSearchParams(request.query);
  return parameters.get('lastEventId') ?? parameters.get('Last-Event-Id');
}
