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
 * Real clients over real ports, against any server of the whole wire: `@trpc/client` with every link, native `fetch`, the
 * packages `eventsource` and `ws`, and bare sockets for what none of them sends. Each case passes on tRPC's own adapters
 * and on the gateway; where they differ is listed, with reasons, in `differences` and `malformedFrames`.
 *
 * What is covered, and where:
 * - links: httpLink, httpBatchLink, httpBatchStreamLink, wsLink (`calls`); httpSubscriptionLink, wsLink, callbacks and
 *   iteration (`subscriptions`); splitLink, retryLink (`batches`, `subscriptions`)
 * - JSON lines: order of answers, promises, iterables, their errors, `jsonl.pingMs`, `jsonl.contentType`, `trpc-accept`
 *   and `accept` (`batches`)
 * - SSE: `connected`, `return`, `serialized-error`, `ping`, `restore-id`; `sse.enabled`, `sse.ping`, `sse.maxDurationMs`,
 *   `sse.emitAndEndImmediately`, `sse.client.reconnectAfterInactivityMs`; `retry`, `Last-Event-ID` as header and
 *   parameters, `tracked()`, `connectionParams`, errors that are retried (`serverSentEvents`)
 * - WebSocket: `connectionParams`, keep-alive from either side, the reconnect broadcast, `experimental_encoder`, lazy
 *   mode, batches, `lastEventId`, stops, ids twice, malformed messages, message size, closing codes (`webSocket`)
 * - options: `allowBatching`, `allowMethodOverride`, `maxBatchSize`, `responseMeta`, `onError`, `createContext` and its
 *   `info`, `basePath`, `transformer` (superjson), `errorFormatter`, lazy routers, HEAD (`options`, `batches`, `calls`)
 * - inputs: JSON, FormData, octets whole and in chunks, 413, 415 (`options`)
 * - aborts: of queries, mutations, each call of a batch, JSON lines, SSE, WebSocket; by signal, by unsubscribing, by
 *   closing, by a socket that is gone or reset (`aborts`); OPTIONS and what the adapters do not abort (`differences`)
 * - backpressure: SSE and JSON lines (`aborts`), WebSocket (`differences`)
 * - one port, and a server that stops while clients go on elsewhere (`onePort`)
 *
 * Bytes are compared in `bytes`, fuzzed messages in `fuzzed`. `soak`, `abortStorm` and `badFrames` are commands too, with
 * a long form: `node --conditions=@petstore/source soak.ts --long [--server official] [--seed 1]`.
 */
export function rpcClients(serve: ServeRpc): void {
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
