import { inputs } from '@petstore/testing/forms';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { testSeed } from '../testSeed.ts';
import { lines } from './bytes.ts';
import { placeOf } from './clients.ts';
import { serveGateway } from './gateway.ts';
import { serveOfficial } from './officialServer.ts';
import { createRandomRouter, type RandomInput } from './randomCalls.ts';
import { withoutOrder } from './transcript.ts';
import type { ServeRpc } from './rpcServer.ts';

/** How many procedures of each kind there are. */
const count = 120;

/** A server of a random router, with what it was told of. */
async function start(serve: ServeRpc, isTransformed: boolean) {
  const random = createRandomRouter(testSeed, count, isTransformed);
  const seen = { errors: [] as string[], fast: 0 };
  const server = await serve({
    router: random.router,
    createContext: (info) => {
      // tRPC's own is a literal.
      if (info?.constructor !== Object) seen.fast += 1;
      return {};
    },
    rpc: {
      onError: ({ error, path, input, type }) =>
        seen.errors.push(
          JSON.stringify({ code: error.code, message: error.message, path, input: input ?? null, type }),
        ),
    },
  });
  onTestFinished(() => server.close());
  return { random, seen, place: placeOf(server, '/trpc') };
}

type Started = Awaited<ReturnType<typeof start>>;
type Transcript = Awaited<ReturnType<typeof transcript>>;

/** A response, and the errors that were reported meanwhile. */
async function transcript({ seen, place: { http } }: Started, target: string, init: RequestInit) {
  const response = await http.fetch(`${http.url}${target}`, init);
  return { status: response.status, text: await response.text(), errors: seen.errors.splice(0) };
}

const inputMember = /"input":(?:null|\{"ms":\d+,"text":"\w+"\})/;

/** A batch's inputs are parsed when one of its calls asks for them: an error before that has none. Which is first, is order. */
const withoutUnread = (line: string, other: string | undefined): string =>
  other?.includes('"input":null') ? line.replace(inputMember, '"input":null') : line;

/** JSON lines without what depends on the order of calls. */
function unordered(one: Transcript, other: Transcript) {
  const [own, others] = [withoutOrder(one.text), withoutOrder(other.text)];
  const [errors, otherErrors] = [one.errors.toSorted(), other.errors.toSorted()];
  return {
    status: one.status,
    lines: own.map((line, at) => withoutUnread(line, others[at])),
    errors: errors.map((error, at) => withoutUnread(error, otherErrors[at])).toSorted(),
  };
}

/** A batch, which asks for JSON lines. */
function asked(
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
  text: fc.constantFrom('a', 'a', 'a', 'refused'),
  isInputGiven: fc.constantFrom(true, true, true, false),
});
const batch = fc.record({
  method: fc.constantFrom('GET', 'GET', 'POST'),
  // Each once: errors are compared by their path.
  calls: fc.uniqueArray(call, { minLength: 1, maxLength: 8, selector: ({ index }) => index }),
  stream: fc.option(fc.nat(count - 1), { freq: 3 }),
});

it.each([
  ['JSON', false],
  ['superjson', true],
])(
  'random batches as JSON lines have the official adapter’s lines, to the byte: %s',
  async (_name, isTransformed) => {
    const official = await start(serveOfficial, isTransformed);
    const gateway = await start(serveGateway, isTransformed);
    const { queries, mutations, streams } = official.random;
    const runs = inputs(250);
    await fc.assert(
      fc.asyncProperty(batch, async ({ method, calls, stream }) => {
        const many = calls.map(({ index, text, isInputGiven }, at) => {
          // What waits for a time ends in an order of its own.
          const input: RandomInput = { ms: 10 + 10 * ((at * 5) % 8), text };
          const path = (method === 'GET' ? queries : mutations)[index] ?? '';
          return { path, input: isInputGiven ? (isTransformed ? { json: input } : input) : undefined };
        });
        const only = stream === null ? undefined : { path: streams[stream] ?? '', input: undefined };
        const batched = only && method === 'GET' ? [only] : many;
        const request = asked(method, batched);
        const expected = await transcript(official, ...request);
        const actual = await transcript(gateway, ...request);
        expect(unordered(actual, expected)).toEqual(unordered(expected, actual));
      }),
      { numRuns: runs, seed: testSeed },
    );
    process.stdout.write(
      `Batches of JSON lines: ${gateway.seen.fast} of ${runs} without tRPC's own producer.\n`,
    );
    expect(official.seen.fast).toBe(0);
    expect(gateway.seen.fast).toBeGreaterThan(0.9 * runs);
  },
  120_000,
);

const subscription = fc.record({
  index: fc.nat(count - 1),
  isInputGiven: fc.constantFrom(true, true, true, false),
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
  'the events of random subscriptions are the official adapter’s to the byte: %s',
  async (_name, isTransformed) => {
    const official = await start(serveOfficial, isTransformed);
    const gateway = await start(serveGateway, isTransformed);
    const runs = inputs(250);
    await fc.assert(
      fc.asyncProperty(subscription, async ({ index, isInputGiven, headers, query }) => {
        const input: RandomInput = { ms: 1, text: 'a' };
        const json = encodeURIComponent(JSON.stringify(isTransformed ? { json: input } : input));
        const path = official.random.subscriptions[index] ?? '';
        const target = `/${path}?${isInputGiven ? `input=${json}` : ''}${query}`;
        const expected = await transcript(official, target, { headers });
        expect(await transcript(gateway, target, { headers })).toEqual(expected);
      }),
      { numRuns: runs, seed: testSeed },
    );
    process.stdout.write(`Subscriptions: ${gateway.seen.fast} of ${runs} without tRPC's own producer.\n`);
    expect(official.seen.fast).toBe(0);
    expect(gateway.seen.fast).toBeGreaterThan(0.9 * runs);
  },
  120_000,
);
