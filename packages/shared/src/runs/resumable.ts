import { tracked, TRPCError, type TrackedEnvelope } from '@trpc/server';
import { declareErrors, resyncDefinition, resyncErrors } from 'trpc-gateway/procedures';
import * as z from 'zod';
import { checkLimit, checkName } from '../channels/checkOptions.ts';
import { closedError, unavailable } from '../events/logErrors.ts';
import type { JoinOptions, Resumable, ResumableOptions } from './resumableOptions.ts';
import { openRun, type RunItem, type RunLog, type RunStart, type StopReason, stopReasons } from './runLog.ts';
import { createRunningRuns } from './runningRuns.ts';
import { produceRun, Stopped } from './runProducer.ts';
import { createRunReader } from './runReader.ts';

/** Declares the errors of `Resumable.join`, `RUN_STOPPED` and `RESYNC`. Add them with `.errors(runErrors)`. */
export const runErrors = declareErrors({
  RUN_STOPPED: {
    status: 409,
    message: 'The run was stopped before its end. Begin another one with a new key.',
    data: z.object({
      reason: z.enum(stopReasons).meta({
        description:
          'failed: an unexpected error, or one that may pass; lost: its process has ended; duration, size: it was too long; abandoned: no client has read it; shutdown: the service was stopped.',
      }),
    }),
  },
  RESYNC: resyncDefinition,
});

const defaultLimits = {
  abandonedMs: 30_000,
  keepMs: 600_000,
  maxDurationMs: 300_000,
  maxRuns: 1000,
  maxRunsPerCaller: 10,
  maxSize: 1_048_576,
};

/**
 * Creates subscriptions whose producer runs once, apart from the connections of its clients: an answer of a model that goes on while a
 * page is reloaded, and that several tabs read.
 *
 * ```ts
 * const answers = resumable({ log, name: 'answers', event: z.string(), onError: (error) => logger.error(error) });
 * answer: t.procedure
 *   .input(z.object({ id: z.uuid(), question: z.string(), lastEventId: z.string().optional() }))
 *   .errors(runErrors)
 *   .subscription(({ ctx, input: { id, lastEventId, question }, signal }) =>
 *     answers.join(`${ctx.user.id}:${id}`, {
 *       caller: ctx.user.id,
 *       lastEventId,
 *       signal,
 *       produce: (stop) => askModel(question, stop),
 *     }),
 *   ),
 * ```
 * @throws {TypeError} for an invalid option
 */
export function resumable<Event>(options: ResumableOptions<Event>): Resumable<Event> {
  const limits = { ...defaultLimits, ...options };
  const { event: schema, log, name, onError } = options;
  checkName(name);
  for (const option of Object.keys(defaultLimits) as (keyof typeof defaultLimits)[])
    checkLimit(`the runs ${name}`, option, limits[option]);
  const running = createRunningRuns(log, limits);
  const readRun = createRunReader(log, running, limits.abandonedMs / 3);
  /** Runs that may begin here, by caller and key: of clients that join together, one is counted. */
  const starting = new Map<string, Promise<RunStart>>();
  const producing = new Set<Promise<void>>();
  let isClosing = false;

  /** Begins the run if it has no producer. */
  async function elect(run: RunLog, key: string, { caller, produce }: JoinOptions<Event>): Promise<RunStart> {
    const origin = { producer: running.producer, number: running.nextNumber() };
    const controller = new AbortController();
    const stop = (reason: StopReason) => controller.abort(new Stopped(reason));
    let isOwn = false;
    try {
      const start = await run.start(origin, () => running.add(origin.number, caller, stop));
      isOwn = start.producer === origin.producer && start.number === origin.number;
      if (!isOwn) return start;
      const produced = produceRun(run, start.id, produce, { ...limits, controller }).then((error) => {
        producing.delete(produced);
        running.remove(origin.number);
        if (error !== undefined) onError(error, key);
      });
      producing.add(produced);
      return start;
    } catch (cause) {
      throw unavailable(cause);
    } finally {
      if (!isOwn) running.remove(origin.number);
    }
  }

  /** @throws `RESYNC` for an event of another version of the program, which the schema rejects */
  function decode(id: string, event: unknown): Event {
    try {
      return schema.parse(event);
    } catch {
      throw resyncErrors.RESYNC({ data: { lastEventId: id } });
    }
  }

  async function* deliver(items: AsyncIterable<RunItem>): AsyncGenerator<TrackedEnvelope<Event>, void, void> {
    for await (const { id, record } of items) {
      if (record?.type === 'event') yield tracked(id, decode(id, record.event));
      else if (record?.type === 'end') return;
      else if (record?.type === 'stop') {
        const { message, reason } = record;
        throw runErrors.RUN_STOPPED({ data: { reason }, ...(message !== undefined && { message }) });
      } else if (record?.type === 'error')
        throw new TRPCError({ code: record.code, message: record.message });
    }
  }

  return {
    async join(key, joinOptions) {
      const { caller, lastEventId, signal = new AbortController().signal } = joinOptions;
      // In TypeScript, it cannot be missing.
      if (typeof caller !== 'string' || caller === '') throw noCaller(name, caller, limits.maxRunsPerCaller);
      // Names have no slash, so that no key leads to another channel.
      const run = openRun(log, `${name}/${key}`, limits.maxDurationMs + limits.keepMs);
      if (isClosing) throw closedError();
      const id = JSON.stringify([caller, key]);
      const elected = starting.get(id) ?? elect(run, key, joinOptions).finally(() => starting.delete(id));
      starting.set(id, elected);
      const start = await elected;
      // Not from the beginning: the log may have been emptied since the run began. An empty field of a query is no id.
      return deliver(readRun(run, { after: lastEventId || start.id, signal, start }));
    },
    async close() {
      isClosing = true;
      await Promise.allSettled(starting.values());
      running.stopAll('shutdown');
      await Promise.all(producing);
    },
  };
}

const noCaller = (name: string, caller: unknown, limit: number): TypeError =>
  new TypeError(
    `\`caller\` of a join of the runs ${name} is ${JSON.stringify(caller)}. Pass who begins the run, such as the id of the user; without users, a text such as 'everyone', with which all clients share maxRunsPerCaller (${limit}).`,
  );
