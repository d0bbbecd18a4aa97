import { everyForm } from '@petstore/testing/forms';
import { describe } from 'vitest';
import { adapterOfRun } from '../adapters.ts';
import { aborts } from './cases/aborts.ts';
import { batches } from './cases/batches.ts';
import { calls } from './cases/calls.ts';
import { options } from './cases/options.ts';
import { serverSentEvents } from './cases/serverSentEvents.ts';
import { subscriptions } from './cases/subscriptions.ts';
import { webSocket } from './cases/webSocket.ts';
import { serveGateway } from './gatewayServer.ts';
import { serveOfficial } from './officialServer.ts';
import { startWith, type ServeRpc } from './start.ts';

/**
 * Runs real clients against a tRPC server: `@trpc/client` with every link, native `fetch`, the packages `eventsource` and
 * `ws`, and raw sockets for requests that none of them sends. Each case passes on tRPC's own adapters and on the gateway;
 * `differences` and `sockets/malformedFrames` list the exceptions with reasons. What clients cannot tell apart is compared
 * byte for byte: by `bytes`, by `overPort`, and by `sameResponses` beside the protocol.
 */
function trpcClients(serve: ServeRpc): void {
  const start = startWith(serve);
  calls(start);
  batches(start);
  subscriptions(start);
  serverSentEvents(start);
  webSocket(start);
  options(start);
  aborts(start);
}

describe('tRPC’s clients of the gateway', () => {
  trpcClients(serveGateway);
});
// Verifies the cases: tRPC's own adapters must pass them. The run of one adapter suffices for that.
describe.runIf(everyForm && adapterOfRun() === 'uws')('tRPC’s clients of its own adapters', () => {
  trpcClients(serveOfficial);
});
