import { tracked, TRPCError, type TrackedEnvelope } from '@trpc/server';
import { declareErrors, resyncDefinition, resyncErrors } from 'trpc-gateway/procedures';
import * as z from 'zod';
import { checkName, closedError, unavailable } from './eventChannel.ts';
import { beginning } from './eventLog.ts';
import type { JoinOptions, Resumable, ResumableOptions } from './resumableOptions.ts';
import { openRun, type RunItem, type RunLog, stopReasons } from './runLog.ts';
import { produceRun, Stopped } from './runProducer.ts';
import { readRun } from './runReader.ts';

/** Declares the errors of `Resumable.join`, `RUN_STOPPED` and `RESYNC`. Add them with `.errors(runErrors)`. */
export const runErrors = declareErrors({
  RUN_STOPPED: {
    status: 409,
    message: 'The run was stopped before its end. Begin another one with a new key.',
    data: z.object({
      reason: z.enum(stopReasons).meta({
        description:
          'failed: an unexpected error; lost: its process has ended; duration, size: it was too long; abandoned: no client has read it; shutdown: the service was stopped.',
      }),
    }),
  },
  RESYNC: resyncDefinition,
});

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
 *     answers.join(`${ctx.user.id}:${id}`, { lastEventId, signal, produce: (stop) => askModel(question, stop) }),
 *   ),
 * ```
 * @throws {TypeError} for an invalid name
 */
export function resumable<Event>(options: ResumableOptions<Event>): Resumable<Event> {
  const defaults = { abandonedMs: 30_000, keepMs: 600_000, maxDurationMs: 300_000, maxSize: 1_048_576 };
  const all = { ...defaults, ...options };
  const { abandonedMs, event: schema, keepMs, log, maxDurationMs, name, onError } = all;
  checkName(name);
  /** The runs that this process produces, and their ends. */
  const running = new Map<AbortController, Promise<void>>();
  /** Calls of `join` that may become producers. */
  const starting = new Set<Promise<string>>();
  let isClosing = false;

  function begin(run: RunLog, key: string, start: string, produce: JoinOptions<Event>['produce']): void {
    const controller = new AbortController();
    const ended = produceRun(run, start, produce, { ...all, controller }).then((error) => {
      running.delete(controller);
      if (error !== undefined) onError(error, key);
    });
    running.set(controller, ended);
  }

  /** @throws `RESYNC` for an event of another version of the program, which the schema rejects */
  function decode(id: string, event: unknown): Event {
    try {
      return schema.parse(event);
    } catch {
      throw resyncErrors.RESYNC({ data: { lastEventId: id } });
    }
  }

  /** Begins the run if it has no producer. @returns a position in the run: that of its first record, or a later one */
  async function elect(run: RunLog, key: string, produce: JoinOptions<Event>['produce']): Promise<string> {
    const { id, isOwn } = await run.start();
    if (!isOwn) return run.newestId();
    begin(run, key, id, produce);
    return id;
  }

  async function* deliver(items: AsyncIterable<RunItem>): AsyncGenerator<TrackedEnvelope<Event>, void, void> {
    for await (const { id, record } of items) {
      if (record?.type === 'event') yield tracked(id, decode(id, record.event));
      else if (record?.type === 'end') return;
      else if (record?.type === 'stop') throw runErrors.RUN_STOPPED({ data: { reason: record.reason } });
      else if (record?.type === 'error') throw new TRPCError({ code: record.code, message: record.message });
    }
  }

  return {
    async join(key, { lastEventId, produce, signal = new AbortController().signal }) {
      // Names have no slash, so that no key leads to another channel.
      const run = openRun(log, `${name}/${key}`, maxDurationMs + keepMs);
      if (isClosing) throw closedError();
      const elected = elect(run, key, produce);
      starting.add(elected);
      const joined = await elected
        .catch((cause: unknown) => {
          throw unavailable(cause);
        })
        .finally(() => starting.delete(elected));
      // An empty field of a query is no id.
      const after = lastEventId || beginning;
      return deliver(readRun(run, { after, joined, signal, reportMs: abandonedMs / 3 }));
    },
    async close() {
      isClosing = true;
      await Promise.allSettled(starting);
      for (const controller of running.keys()) controller.abort(new Stopped('shutdown'));
      await Promise.all(running.values());
    },
  };
}
