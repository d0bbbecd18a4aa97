import { isTrpcError } from 'trpc-gateway/internal';
import { encodeEvent } from './eventChannel.ts';
import type { JoinOptions, ResumableOptions } from './resumableOptions.ts';
import type { RunLog, RunRecord, StopReason } from './runLog.ts';

/** How often a producer shows that it is alive, in milliseconds. */
const aliveMs = 500;

type ProducerOptions<Event> = Required<ResumableOptions<Event>> & {
  /** Stops the run. */
  readonly controller: AbortController;
};

/** Why a run is stopped. */
export class Stopped extends Error {
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    super(`The run is stopped: ${reason}.`);
    this.reason = reason;
  }
}

/**
 * Produces a run until its end.
 * @param start the id of its first record
 * @returns the error with which it has failed
 */
export async function produceRun<Event>(
  run: RunLog,
  start: string,
  produce: JoinOptions<Event>['produce'],
  { abandonedMs, controller, event: schema, maxDurationMs, maxSize }: ProducerOptions<Event>,
): Promise<unknown> {
  const { signal } = controller;
  const stop = (reason: StopReason) => controller.abort(new Stopped(reason));
  const tooLong = setTimeout(stop, maxDurationMs, 'duration').unref();
  const abandoned = setTimeout(stop, abandonedMs, 'abandoned').unref();
  const showAlive = () => void run.append({ type: 'alive' }, start).catch(() => {});
  const alive = setInterval(showAlive, aliveMs).unref();

  async function store(): Promise<void> {
    let size = 0;
    for await (const value of produce(signal)) {
      signal.throwIfAborted();
      const event = encodeEvent(schema, value);
      size += JSON.stringify(event).length;
      if (size > maxSize) throw new Stopped('size');
      alive.refresh();
      await run.append({ type: 'event', event }, start);
    }
  }

  /** Receives what readers report, also that this process was taken for lost. */
  async function listen(until: AbortSignal): Promise<void> {
    for await (const { record } of run.read(start, until)) {
      if (record?.type === 'reading') abandoned.refresh();
      else if (record?.type === 'stop') stop(record.reason);
    }
  }

  const listening = new AbortController();
  listen(listening.signal).catch((cause: unknown) => controller.abort(cause));
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  let end: RunRecord = { type: 'end' };
  let error: unknown;
  try {
    // A producer that ignores its signal may never return.
    await Promise.race([store(), stopped]);
  } catch (cause) {
    end = endRecord(cause);
    if (end.type === 'stop' && end.reason === 'failed') error = cause;
    controller.abort(cause);
  }
  // If it cannot be stored, readers take the run for lost.
  await run.append(end, start).catch(() => {});
  listening.abort();
  for (const timer of [alive, tooLong, abandoned]) clearTimeout(timer);
  return error;
}

function endRecord(cause: unknown): RunRecord {
  if (cause instanceof Stopped) return { type: 'stop', reason: cause.reason };
  // Clients of tRPC would connect again after an internal error, and get it again.
  if (!isTrpcError(cause) || cause.code === 'INTERNAL_SERVER_ERROR')
    return { type: 'stop', reason: 'failed' };
  return { type: 'error', code: cause.code, message: cause.message };
}
