import { setTimeout as sleep } from 'node:timers/promises';
import { initTRPC } from '@trpc/server';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { z } from 'zod';

/** What has happened to the promises and iterables of outputs, and how many calls wait for their end. */
export const seen = { rejected: 0, ended: 0, waiting: 0 };

function reject(): never {
  seen.rejected += 1;
  throw new Error('unread');
}
/** A promise that rejects, by default at once. */
const failing = (ready?: Promise<unknown>): Promise<never> => Promise.resolve(ready).then(reject);

function iterable(): AsyncIterable<number> {
  const next = () => new Promise<never>(() => {});
  const end = async () => {
    seen.ended += 1;
    return { done: true, value: undefined } as const;
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: end }) };
}

/** An instance of a class, whose members are searched only if it is the output. */
class Page {
  readonly it = iterable();
}

export interface AsyncOutput {
  readonly output: () => unknown;
  readonly json: unknown;
  /** Whether tRPC sends it as JSON lines only: an object of which a member is a promise or an iterable. */
  readonly isStream?: true;
  readonly rejected?: number;
  readonly ended?: number;
}

const inMember = { json: { it: {} }, isStream: true } as const;

/** Outputs with promises and async iterables in them, which JSON does not have. */
export const asyncOutputs: Readonly<Record<string, AsyncOutput>> = {
  'a promise': { ...inMember, output: () => ({ it: failing() }), rejected: 1 },
  'a promise that rejects later': { ...inMember, output: () => ({ it: failing(sleep(20)) }), rejected: 1 },
  'a list of promises': { output: () => [failing(), failing()], json: [{}, {}], rejected: 2 },
  'a promise in an object of a list': {
    output: () => ({ items: [{ it: failing() }] }),
    json: { items: [{ it: {} }] },
    rejected: 1,
  },
  'a query that starts when it is awaited': {
    ...inMember,
    // oxlint-disable-next-line unicorn/no-thenable -- as the queries of Prisma, Knex and Mongoose
    output: () => ({ it: { then: reject, catch: reject, [Symbol.asyncIterator]: reject } }),
  },
  'an iterable': { ...inMember, output: () => ({ it: iterable() }), ended: 1 },
  'a list of iterables': { output: () => ({ items: [iterable(), 1] }), json: { items: [{}, 1] }, ended: 1 },
  'an instance of a class': { ...inMember, output: () => new Page(), ended: 1 },
  'an instance in a list': { output: () => [new Page()], json: [{ it: {} }] },
  'a member that toJSON omits': {
    ...inMember,
    output: () => ({ it: iterable(), toJSON: () => ({ it: {} }) }),
  },
};

const t = initTRPC.meta<GatewayMeta>().create({ isDev: false });
const input = z.object({ name: z.string() });
interface Call {
  readonly input: z.infer<typeof input>;
  readonly signal: AbortSignal | undefined;
}
const outputOf = (call: Call) => asyncOutputs[call.input.name]?.output();
async function* yieldOutput(call: Call): AsyncGenerator {
  yield outputOf(call);
}
/** Returns the output in a later turn of the event loop than the abort, so that nothing waits for it any more. */
async function outputAfterAbort(call: Call): Promise<unknown> {
  const aborted = new Promise((resolve) => call.signal?.addEventListener('abort', resolve, { once: true }));
  seen.waiting += 1;
  await aborted;
  await sleep(5);
  return outputOf(call);
}

const on = (path: `/${string}`, meta: GatewayMeta = {}) =>
  t.procedure
    .meta({ openapi: { method: 'GET', path }, mcp: { description: 'A test.' }, ...meta })
    .input(input);
const onPost = (path: `/${string}`, meta: GatewayMeta = {}) =>
  on(path, { openapi: { method: 'POST', path }, idempotencyKey: 'optional', ...meta });
const onEvents = (path: `/${string}`, event: z.ZodType = z.unknown()) =>
  on(path, { openapi: { method: 'GET', path, event } });
const plain = z.object({ it: z.string(), items: z.string() });
const rejectLater = () => sleep(5, false);
const plainLater = plain.or(z.object({}).refine(rejectLater));
const late = { callTimeoutMs: 20 };

export const asyncRouter = t.router({
  output: on('/output').query(outputOf),
  later: on('/later').query((call) => sleep(5, call).then(outputOf)),
  unchecked: on('/unchecked').output(z.any()).query(outputOf),
  /** Has a middleware that is still busy when the output is known. */
  logged: on('/logged')
    .use(async ({ next }) => sleep(5, await next()))
    .query(outputOf),
  /** Has a middleware that replaces the output. */
  replaced: on('/replaced')
    .use(async (call) => Object.assign(await call.next(), { data: outputOf(call) }))
    .query((): unknown => 1),
  /** Is called through tRPC. It is a function, which routers accept but their types do not (@trpc/server 11.25). */
  wrapped: on('/wrapped')
    .experimental_caller(async ({ invoke, args }) => invoke(args[0] as never))
    .query(outputOf) as never,
  /** Has an output that its schema does not accept. */
  invalid: on('/invalid')
    .output(plain)
    .query((call) => outputOf(call) as never),
  /** Has a schema that is still busy when the output is known. */
  invalidLater: on('/invalidLater')
    .output(plainLater)
    .query((call) => outputOf(call) as never),
  late: on('/late', late).query(outputAfterAbort),
  abandoned: on('/abandoned').query(outputAfterAbort),
  yielded: on('/yielded').query(yieldOutput),
  keyed: onPost('/keyed').mutation(outputOf),
  lateKeyed: onPost('/lateKeyed', late).mutation(outputAfterAbort),
  events: onEvents('/events').subscription(yieldOutput),
  /** Yields events that their schema does not accept. */
  invalidEvents: onEvents('/invalidEvents', plain).subscription(yieldOutput),
  invalidEventsLater: onEvents('/invalidEventsLater', plainLater).subscription(yieldOutput),
  anyEventsLater: onEvents('/anyEventsLater', z.any().refine(rejectLater)).subscription(yieldOutput),
  /** Yields after its client has disconnected. */
  abandonedEvents: onEvents('/abandonedEvents').subscription(async function* (call) {
    yield await outputAfterAbort(call);
  }),
});
