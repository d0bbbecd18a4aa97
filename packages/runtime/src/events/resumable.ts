import { tracked, TRPCError, type TrackedEnvelope } from '@trpc/server';
import { declareErrors } from 'trpc-gateway/procedures';
import { z } from 'zod';
import { checkName, closedError } from './eventChannel.ts';
import { beginning } from './eventLog.ts';
import type { JoinOptions, Resumable, ResumableOptions } from './resumableOptions.ts';
import { openRun, type RunItem, type RunLog, stopReasons } from './runLog.ts';
import { produceRun, Stopped } from './runProducer.ts';
import { readRun } from './runReader.ts';

/** Declares the errors of `Resumable.join`. Add them with `.errors(runErrors)`, and `resyncErrors` beside them. */
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
  let isClosing = false;

  function begin(run: RunLog, key: string, start: string, produce: JoinOptions<Event>['produce']): void {
    const controller = new AbortController();
    const ended = produceRun(run, start, produce, { ...all, controller }).then((error) => {
      running.delete(controller);
      if (error !== undefined) onError(error, key);
    });
    running.set(controller, ended);
  }

  async function* deliver(items: AsyncIterable<RunItem>): AsyncGenerator<TrackedEnvelope<Event>, void, void> {
    for await (const { id, record } of items) {
      // The type of stored events is not known.
      if (record?.type === 'event') yield tracked(id, schema.decode(record.event as never));
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
      const joined = await run.newestId();
      const { id, isOwn } = await run.start();
      if (isOwn) begin(run, key, id, produce);
      const after = lastEventId ?? beginning;
      return deliver(readRun(run, { after, joined, signal, reportMs: abandonedMs / 3 }));
    },
    async close() {
      isClosing = true;
      for (const controller of running.keys()) controller.abort(new Stopped('shutdown'));
      await Promise.all(running.values());
    },
  };
}
