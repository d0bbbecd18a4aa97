import { describe } from 'vitest';
import { aborts } from './cases/aborts.ts';
import { batches } from './cases/batches.ts';
import { calls } from './cases/calls.ts';
import { onePort } from './cases/onePort.ts';
import { options } from './cases/options.ts';
import { serverSentEvents } from './cases/serverSentEvents.ts';
import { subscriptions } from './cases/subscriptions.ts';
import { webSocket } from './cases/webSocket.ts';
import { startWith } from './start.ts';
import type { ServeRpc } from './rpcServer.ts';

/**
 * Runs real clients against a tRPC server: `@trpc/client` with every link, native `fetch`, the packages `eventsource` and
 * `ws`, and raw sockets for requests that none of them sends. Each case passes on tRPC's own adapters and on the gateway;
 * `differences` and `malformedFrames` list the exceptions with reasons.
 *
 * Coverage, with the file of each part:
 * - links: httpLink, httpBatchLink, httpBatchStreamLink, wsLink (`calls`); httpSubscriptionLink, wsLink, callbacks and
 *   iteration (`subscriptions`); splitLink, retryLink (`batches`, `subscriptions`)
 * - JSON lines: order of responses, promises, iterables, their errors, `jsonl.pingMs`, `jsonl.contentType`, `trpc-accept`
 *   and `accept` (`batches`)
 * - SSE: `connected`, `return`, `serialized-error`, `ping`, `restore-id`; `sse.enabled`, `sse.ping`, `sse.maxDurationMs`,
 *   `sse.emitAndEndImmediately`, `sse.client.reconnectAfterInactivityMs`; `retry`, `Last-Event-ID` as header and
 *   parameters, `tracked()`, `connectionParams`, retried errors (`serverSentEvents`)
 * - WebSocket: `connectionParams`, keep-alive from either side, the reconnect broadcast, lazy mode,
 *   batches, `lastEventId`, stops, duplicate ids, malformed messages, message size, close codes (`webSocket`)
 * - options: `allowBatching`, `allowMethodOverride`, `maxBatchSize`, `responseMeta`, `onError`, `createContext` and its
 *   `info`, `basePath`, `transformer` (superjson), `errorFormatter`, lazy routers, HEAD (`options`, `batches`, `calls`)
 * - inputs: JSON, FormData, octet streams complete and in chunks, 413, 415 (`options`)
 * - aborts: of queries, mutations, each call of a batch, JSON lines, SSE, WebSocket; by signal, by unsubscribing, by
 *   closing, by a lost or reset connection (`aborts`); calls that tRPC's adapters do not abort (`differences`)
 * - backpressure: SSE and JSON lines (`aborts`), WebSocket (`differences`)
 * - one port, and a server that stops while its clients resume on another (`onePort`)
 *
 * `bytes` compares bytes, `fuzzed` compares fuzzed messages. `soak`, `abortStorm` and `badFrames` are also commands with a
 * long form: `node --conditions=trpc-gateway-source soak.ts --long [--server official] [--seed 1]`.
 */
export function trpcClients(serve: ServeRpc): void {
  const start = startWith(serve);
  describe('tRPC’s clients', () => {
    calls(start);
    batches(start);
    subscriptions(start);
    serverSentEvents(start);
    webSocket(start);
    options(start);
    aborts(start);
    onePort(start);
  });
}
