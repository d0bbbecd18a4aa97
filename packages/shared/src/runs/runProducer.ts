import type { TRPCError } from '@trpc/server';
import { isTrpcError } from 'trpc-gateway/procedures';
import { encodeEvent } from '../channels/eventChannel.ts';
import { parseId } from '../events/channelReader.ts';
import type { JoinOptions, ResumableOptions } from './resumableOptions.ts';
import { type RunLog, type RunRecord, type StopReason } from './runLog.ts';

interface ProducerOptions<Event> extends Required<Pick<ResumableOptions<Event>, 'event' | 'maxSize'>> {
  /** Stops the run. */
  readonly controller: AbortController;
}

/** Why a run is stopped. */
export class Stopped extends Error {
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    super(`The run is stopped: ${reason}.`);
    this.reason = reason;
  }
}

/** Produces a run until its end. @param start the id of its first record @returns its error, if it failed */
export async function produceRun<Event>(
  run: RunLog,
  start: string,
  produce: JoinOptions<Event>['produce'],
  { controller, event: schema, maxSize }: ProducerOptions<Event>,
): Promise<unknown> {
  const { signal } = controller;

  async function store(): Promise<void> {
    let size = 0;
    for await (const value of produce(signal)) {
      signal.throwIfAborted();
      const event = encodeEvent(schema, value);
      size += JSON.stringify(event).length;
      if (size > maxSize) throw new Stopped('size');
      const id = await run.append({ type: 'event', event }, start);
      // The log was emptied.
      if (parseId(id).epoch !== parseId(start).epoch) throw new Stopped('lost');
    }
  }

  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  let end: RunRecord = { type: 'end' };
  let error: unknown;
  try {
    signal.throwIfAborted();
    // A producer that ignores its signal may never return.
    await Promise.race([store(), stopped]);
  } catch (cause) {
    end = endRecord(cause);
    if (end.type === 'stop' && end.reason === 'failed' && end.message === undefined) error = cause;
    controller.abort(cause);
  }
  // If it cannot be stored, readers take the run for lost.
  await run.append(end, start).catch(() => {});
  return error;
}

/** tRPC's clients connect again after every 5xx, and 429 may pass too: those that read a run would get it without end. */
const passingCodes: ReadonlySet<TRPCError['code']> = new Set([
  'TOO_MANY_REQUESTS',
  'NOT_IMPLEMENTED',
  'BAD_GATEWAY',
  'SERVICE_UNAVAILABLE',
  'GATEWAY_TIMEOUT',
]);

function endRecord(cause: unknown): RunRecord {
  if (cause instanceof Stopped) return { type: 'stop', reason: cause.reason };
  if (!isTrpcError(cause) || cause.code === 'INTERNAL_SERVER_ERROR')
    return { type: 'stop', reason: 'failed' };
  const { code, message } = cause;
  return passingCodes.has(code)
    ? { type: 'stop', reason: 'failed', message }
    : { type: 'error', code, message };
}
