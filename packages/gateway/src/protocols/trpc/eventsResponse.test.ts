import { initTRPC, tracked } from '@trpc/server';
// Not public: tRPC's own producer, to compare with.
import { sseStreamProducer } from '@trpc/server/unstable-core-do-not-import';
import { describe, expect, it } from 'vitest';
import { ServerSentEvents } from '../../http/serverSentEvents.ts';
import { eventTimes, rpcEventFormat } from './eventsResponse.ts';
import type { TrpcSettings } from './options.ts';
import { textOf } from '../../testing/streams.ts';
import { testGateway } from '../../testing/testGateway.ts';

type Step =
  | { readonly value: unknown; readonly id?: string | undefined }
  | { readonly error: Error }
  | { readonly wait: true };

/** Creates a subscription that runs these steps. */
async function* subscription(steps: readonly Step[]) {
  for (const step of steps) {
    if ('wait' in step) await new Promise(setImmediate);
    else if ('error' in step) throw step.error;
    else yield step.id === undefined ? step.value : tracked(step.id, step.value);
  }
}

const shape = (cause: unknown) => ({ message: String(cause), at: new Date(0) });
const abort = Object.assign(new Error('gone'), { name: 'AbortError' });

const steps: readonly Step[] = [
  ...[{ a: [null] }, undefined, new Date(5), new Map([[1, 2]]), 'ü 🐶 \u2028\n', 1n, () => 1].flatMap(
    (value) => [{ value }, { value, id: '1' }, { value, id: 'n-é-7' }],
  ),
  { wait: true },
  { error: new Error('broke') },
  { error: abort },
];
/** Each step after each, and the first once more. */
const streams = steps.flatMap((first) => steps.map((second) => [first, second, first]));
const lastEventIds = [null, '', '4', 'n-é-7', 'a\nb', 'a\rb', 'a\0b'];

/** Creates the settings that the format reads. */
const settingsOf = (maxResponseSize: number, serialize = (data: unknown) => data, client?: object) =>
  ({
    config: { transformer: { output: { serialize } }, sse: { client } },
    limits: { maxResponseSize },
  }) as never;

/** Options of a stream that ends with its subscription only. */
const endless = { pingMs: undefined, maxDurationMs: undefined, watch: () => () => {}, abort: () => {} };

describe('rpcEventFormat', () => {
  it.each([
    ['JSON', (data: unknown) => data],
    ['a transformer', (data: unknown) => ({ json: data, type: typeof data })],
  ])('rpcEventFormat writes the same bytes as tRPC’s own producer: %s', async (_name, serialize) => {
    for (const [index, each] of streams.entries()) {
      const lastEventId = lastEventIds[index % lastEventIds.length] ?? null;
      const client = index % 2 === 0 ? {} : { reconnectAfterInactivityMs: 10_000 };
      const official = sseStreamProducer({
        data: subscription(each),
        serialize,
        client,
        lastEventId,
        formatError: ({ error }) => shape((error as Error).cause ?? error),
      });
      const format = rpcEventFormat(settingsOf(100_000, serialize, client), lastEventId, shape);
      const events = new ServerSentEvents(subscription(each), format, endless);
      expect(await textOf(events)).toBe(await textOf(official));
    }
  });

  it('rpcEventFormat writes null for an error without a shape', () => {
    const format = rpcEventFormat(settingsOf(10), null, () => undefined as never);
    expect(format.error(new Error('no'))).toBe('event: serialized-error\ndata: null\n\n\n');
  });
});

it('the signal of a subscription over HTTP aborts with the reason of the disconnect', async () => {
  const t = initTRPC.create({ isDev: false });
  const signals: (AbortSignal | undefined)[] = [];
  const router = t.router({
    watch: t.procedure.subscription(async function* ({ signal }) {
      signals.push(signal);
      yield 1;
      await new Promise(() => {});
    }),
  });
  const { fetch } = await testGateway(router);
  const disconnect = new AbortController();
  const headers = { accept: 'text/event-stream' };
  const request = new Request('http://localhost/trpc/watch', { headers, signal: disconnect.signal });
  const reader = (await fetch(request)).body?.getReader();
  while (signals.length === 0) await reader?.read();
  const reason = new Error('The client has left.');
  disconnect.abort(reason);
  expect(signals[0]?.reason).toBe(reason);
});

it.each<[sse: TrpcSettings['config']['sse'], pingMs: number | undefined]>([
  [undefined, undefined],
  [{ ping: { enabled: false, intervalMs: 5 } }, undefined],
  [{ ping: { enabled: true } }, 1000],
  [{ ping: { enabled: true, intervalMs: 5 } }, 5],
  [{ ping: { enabled: true, intervalMs: 0 } }, undefined],
  [{ ping: { enabled: true, intervalMs: Infinity } }, undefined],
])('streams of a router with sse: %o have pings every %s ms', (sse, pingMs) => {
  expect(eventTimes({ sse } as TrpcSettings['config']).pingMs).toBe(pingMs);
});
