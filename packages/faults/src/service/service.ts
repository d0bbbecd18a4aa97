// The laboratory's service: all that can lose, repeat, hang or grow. On a virtual clock or as processes.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { initTRPC, TRPCError } from '@trpc/server';
import { bearer, createGateway, type Gateway, type RequestRecord, type State } from 'trpc-gateway';
import { mcp } from 'trpc-gateway/mcp';
import { type GatewayMeta, resyncErrors } from 'trpc-gateway/procedures';
import {
  type EventChannel,
  eventChannel,
  type EventLog,
  type Resumable,
  resumable,
  runErrors,
} from 'trpc-gateway-shared';
import { z } from 'zod';

/** Something that was done outside of the service, once for each run of a procedure: what a repeat must not do again. */
export interface Effect {
  readonly text: string;
  /** A unique id of the run. */
  readonly run: string;
}

/** What survives the processes of the service, apart from what they share by `trpc-gateway-shared`. */
export interface Outside {
  /** @param isOnce one effect per text @returns the id of the run that had it @throws if it is not stored */
  add(effect: Effect, isOnce: boolean): Promise<string>;
  find(text: string): Promise<readonly Effect[]>;
  isRevoked(token: string): boolean;
}

/** What a process opens when it starts, and loses when it is killed. */
export interface ServiceProcess {
  readonly state: State;
  readonly log: EventLog;
  readonly outside: Outside;
  readonly channel: EventChannel<string>;
  readonly runs: Resumable<number>;
}

interface Context {
  readonly caller: string;
  readonly process: ServiceProcess;
}

/** How many calls each caller may make in a window. */
export const rateLimit = { calls: 60, windowMs: 10_000 };
export const runLimits = { maxRuns: 12, maxRunsPerCaller: 6, abandonedMs: 3000 };
export const callTimeoutMs = 4000;
/** How many events of a channel are kept. */
export const keptEvents = 5;
/** How many events a run has, and how long it waits before each, in milliseconds. */
export const runLength = 6;
const runStepMs = 300;

const t = initTRPC.context<Context>().meta<GatewayMeta>().create();
const Text = z.object({ text: z.string().max(100), ms: z.int().max(10_000) });
const Run = z.object({ run: z.string() });
const lastEventId = z.string().optional();

/** Takes a while, in the middle of which it has its effect. */
async function takeEffect(
  { ctx, input: { ms, text } }: { readonly ctx: Context; readonly input: z.output<typeof Text> },
  isOnce: boolean,
): Promise<{ run: string }> {
  const effect = { text, run: randomUUID() };
  await sleep(ms / 2);
  const run = await ctx.process.outside.add(effect, isOnce);
  await sleep(ms / 2);
  return { run };
}

const tool = (description: string) => ({ mcp: { description } });

const router = t.router({
  /** Has an effect once for each idempotency key. */
  place: t.procedure
    .meta({
      idempotencyKey: 'required',
      openapi: { method: 'POST', path: '/orders', successStatus: 201 },
      ...tool('Places an order.'),
    })
    .input(Text)
    .output(Run)
    .mutation((call) => takeEffect(call, true)),
  /** Has an effect for each call. */
  note: t.procedure
    .meta({ openapi: { method: 'POST', path: '/notes', successStatus: 201 }, ...tool('Adds a note.') })
    .input(Text)
    .output(Run)
    .mutation((call) => takeEffect(call, false)),
  look: t.procedure
    .meta({ openapi: { method: 'GET', path: '/orders/{text}' }, ...tool('Looks for an order.') })
    .input(z.object({ text: z.string() }))
    .output(z.object({ runs: z.array(z.string()) }))
    .query(async ({ ctx, input }) => {
      const found = await ctx.process.outside.find(input.text);
      return { runs: found.map(({ run }) => run) };
    }),
  publish: t.procedure
    .meta({ openapi: { method: 'POST', path: '/channels/{key}' }, ...tool('Publishes an event.') })
    .input(z.object({ key: z.string(), event: z.string() }))
    .output(z.object({ id: z.string() }))
    .mutation(async ({ ctx, input: { event, key } }) => ({
      id: await ctx.process.channel.publish(key, event),
    })),
  events: t.procedure
    .meta({ openapi: { method: 'GET', path: '/channels/{key}', event: z.string() } })
    .input(z.object({ key: z.string(), lastEventId }))
    .errors(resyncErrors)
    .subscription(({ ctx, input, signal }) => ctx.process.channel.subscribe(input.key, { ...input, signal })),
  answer: t.procedure
    .meta({ openapi: { method: 'GET', path: '/answers/{key}', event: z.int() } })
    .input(z.object({ key: z.string(), lastEventId }))
    .errors(runErrors)
    .subscription(({ ctx, input, signal }) =>
      ctx.process.runs.join(input.key, {
        ...input,
        caller: ctx.caller,
        signal,
        produce: (stop) => count(ctx.process.outside, input.key, stop),
      }),
    ),
});

/** Counts to `runLength`. Its begin is an effect. */
async function* count(outside: Outside, key: string, stop: AbortSignal) {
  // Without it while the store is away: otherwise that error would be the end of the run for each of its readers.
  await outside.add({ text: `answer ${key}`, run: randomUUID() }, true).catch(() => {});
  for (let at = 1; at <= runLength; at += 1) {
    await sleep(runStepMs, undefined, { signal: stop });
    yield at;
  }
}

/** Opens what the procedures of a process use. */
export function openProcess(parts: Pick<ServiceProcess, 'log' | 'outside' | 'state'>): ServiceProcess {
  const { log } = parts;
  const keep = { events: keptEvents };
  return {
    ...parts,
    channel: eventChannel({ log, name: 'events', event: z.string(), keep }),
    runs: resumable({ log, name: 'answers', event: z.int(), onError: () => {}, ...runLimits }),
  };
}

/** Creates a process's gateway. @param current returns the process @param onResponse gets each record */
export function createProcessGateway(
  current: () => ServiceProcess,
  onResponse?: (record: RequestRecord) => unknown,
): Promise<Gateway> {
  return createGateway({
    router,
    authentication: bearer({
      verify: (token) => (current().outside.isRevoked(token) ? undefined : { caller: token }),
    }),
    createContext: ({ identity }): Context => {
      if (!identity) throw new TRPCError({ code: 'UNAUTHORIZED' });
      return { caller: identity.caller, process: current() };
    },
    document: { title: 'Orders', version: '1' },
    mcp: mcp(),
    state: {
      add: (...args) => current().state.add(...args),
      set: (...args) => current().state.set(...args),
      delete: (...args) => current().state.delete(...args),
      take: (...args) => current().state.take(...args),
    },
    rateLimit,
    callTimeoutMs,
    maxQueueMs: Infinity,
    ...(onResponse && { onResponse }),
  });
}
