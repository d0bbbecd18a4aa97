import { inputs } from '@petstore/testing/forms';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { adapterOfRun } from '../adapters.ts';
import { testSeed } from '../testSeed.ts';
import { lines } from './bytes.ts';
import { endpointsOf } from './clients.ts';
import { serveGateway } from './gateway.ts';
import { serveOfficial } from './officialServer.ts';
import { createRandomRouter, type RandomInput } from './randomCalls.ts';
import { withoutOrder } from './transcript.ts';
import type { ServeRpc } from './rpcServer.ts';

/** Number of requests of each test. The texts come from the same code on every adapter, which sends them in pieces. */
const runs = inputs(adapterOfRun() === 'uws' ? 250 : 50);

/** Number of procedures of each kind. */
const count = 120;

/** Starts a server with a random router. Records its errors and counts the requests served without tRPC's handlers. */
async function start(serve: ServeRpc, isTransformed: boolean) {
  const random = createRandomRouter(testSeed, count, isTransformed);
  const seen = { errors: [] as string[], withoutTrpcHandler: 0 };
  const server = await serve({
    router: random.router,
    createContext: (info) => {
      // tRPC's request handlers pass an object literal, the gateway a class instance.
      if (info?.constructor !== Object) seen.withoutTrpcHandler += 1;
      return {};
    },
    trpc: {
      onError: ({ error, path, input, type }) =>
        seen.errors.push(
          JSON.stringify({ code: error.code, message: error.message, path, input: input ?? null, type }),
        ),
    },
  });
  onTestFinished(() => server.close());
  return { random, seen, endpoints: endpointsOf(server, '/trpc') };
}

type Started = Awaited<ReturnType<typeof start>>;
type Transcript = Awaited<ReturnType<typeof transcript>>;

/** Sends a request and returns its response with the errors reported meanwhile. */
async function transcript({ seen, endpoints: { http } }: Started, target: string, init: RequestInit) {
  const response = await http.fetch(`${http.url}${target}`, init);
  return { status: response.status, text: await response.text(), errors: seen.errors.splice(0) };
}

const inputMember = /"input":(?:null|\{"ms":\d+,"text":"\w+"\})/;

/**
 * Sets the input of an error to null if it is null in the other server's error. A batch's inputs are parsed when its first
 * call reads them, so an error reported earlier has none, and the order of calls may differ.
 */
const withoutUnread = (line: string, other: string | undefined): string =>
  other?.includes('"input":null') ? line.replace(inputMember, '"input":null') : line;

/** Returns a transcript without the parts that depend on the order of calls. */
function unordered(one: Transcript, other: Transcript) {
  const [own, others] = [withoutOrder(one.text), withoutOrder(other.text)];
  const [errors, otherErrors] = [one.errors.toSorted(), other.errors.toSorted()];
  return {
    status: one.status,
    lines: own.map((line, at) => withoutUnread(line, others[at])),
    errors: errors.map((error, at) => withoutUnread(error, otherErrors[at])).toSorted(),
  };
}

/** Returns the request of a batch with a response in JSON lines. */
function batchRequest(
  method: string,
  calls: readonly { readonly path: string; readonly input: unknown }[],
): readonly [target: string, init: RequestInit] {
  const target = `/${calls.map(({ path }) => path).join(',')}?batch=1`;
  const body = JSON.stringify(Object.fromEntries(calls.map(({ input }, index) => [index, input])));
  if (method === 'GET') return [`${target}&input=${encodeURIComponent(body)}`, { headers: lines }];
  return [target, { method, body, headers: { ...lines, 'content-type': 'application/json' } }];
}

const call = fc.record({
  index: fc.nat(count - 1),
  text: fc.constantFrom('a', 'a', 'a', 'rejected'),
  hasInput: fc.constantFrom(true, true, true, false),
});
const batch = fc.record({
  method: fc.constantFrom('GET', 'GET', 'POST'),
  // Each procedure once: errors are compared by path.
  calls: fc.uniqueArray(call, { minLength: 1, maxLength: 8, selector: ({ index }) => index }),
  stream: fc.option(fc.nat(count - 1), { freq: 3 }),
});

it.each([
  ['JSON', false],
  ['superjson', true],
])(
  'the gateway streams random batches as the JSON lines of tRPC’s adapter, byte for byte: %s',
  async (_name, isTransformed) => {
    const official = await start(serveOfficial, isTransformed);
    const gateway = await start(serveGateway, isTransformed);
    const { queries, mutations, streams } = official.random;
    await fc.assert(
      fc.asyncProperty(batch, async ({ method, calls, stream }) => {
        const many = calls.map(({ index, text, hasInput }, at) => {
          // Different delays, so that calls finish in a known order.
          const input: RandomInput = { ms: 10 + 10 * ((at * 5) % 8), text };
          const path = (method === 'GET' ? queries : mutations)[index] ?? '';
          return { path, input: hasInput ? (isTransformed ? { json: input } : input) : undefined };
        });
        const only = stream === null ? undefined : { path: streams[stream] ?? '', input: undefined };
        const batched = only && method === 'GET' ? [only] : many;
        const request = batchRequest(method, batched);
        const expected = await transcript(official, ...request);
        const actual = await transcript(gateway, ...request);
        expect(unordered(actual, expected)).toEqual(unordered(expected, actual));
      }),
      { numRuns: runs, seed: testSeed },
    );
    process.stdout.write(
      `JSON lines: the gateway served ${gateway.seen.withoutTrpcHandler} of ${runs} batches without tRPC's request handler.\n`,
    );
    expect(official.seen.withoutTrpcHandler).toBe(0);
    expect(gateway.seen.withoutTrpcHandler).toBeGreaterThan(0.9 * runs);
  },
  120_000,
);

const subscription = fc.record({
  index: fc.nat(count - 1),
  hasInput: fc.constantFrom(true, true, true, false),
  headers: fc.constantFrom<Record<string, string>>(
    {},
    { 'last-event-id': '4' },
    { 'last-event-id': 'n-é-7' },
  ),
  query: fc.constantFrom('', '&lastEventId=5', '&Last-Event-Id=6', '&lastEventId='),
});

it.each([
  ['JSON', false],
  ['superjson', true],
])(
  'the gateway streams random subscriptions as the events of tRPC’s adapter, byte for byte: %s',
  async (_name, isTransformed) => {
    const official = await start(serveOfficial, isTransformed);
    const gateway = await start(serveGateway, isTransformed);
    await fc.assert(
      fc.asyncProperty(subscription, async ({ index, hasInput, headers, query }) => {
        const input: RandomInput = { ms: 1, text: 'a' };
        const json = encodeURIComponent(JSON.stringify(isTransformed ? { json: input } : input));
        const path = official.random.subscriptions[index] ?? '';
        const target = `/${path}?${hasInput ? `input=${json}` : ''}${query}`;
        const expected = await transcript(official, target, { headers });
        expect(await transcript(gateway, target, { headers })).toEqual(expected);
      }),
      { numRuns: runs, seed: testSeed },
    );
    process.stdout.write(
      `Server-sent events: the gateway served ${gateway.seen.withoutTrpcHandler} of ${runs} subscriptions without tRPC's request handler.\n`,
    );
    expect(official.seen.withoutTrpcHandler).toBe(0);
    expect(gateway.seen.withoutTrpcHandler).toBeGreaterThan(0.9 * runs);
  },
  120_000,
);
