import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exchange } from '@petstore/gateway';
import { destination, type Logger, pino } from 'pino';
import type { Configuration } from './configuration.ts';

/** An answer that took longer is logged as slow, in milliseconds. */
const slowMs = 1_000;

/** How often those that are refused for load get a line together, in milliseconds. */
const shedEveryMs = 1_000;

/** What is kept for a reader of stdout that stopped reading; lines beyond it are dropped. */
const maxPendingBytes = 8_388_608;

/** How long the end waits for whoever reads stdout, in milliseconds. */
const endDeadlineMs = 1_000;

/** What Linux writes to a pipe in one piece (PIPE_BUF): the lines of several processes stay whole, up to that length. */
const atomicBytes = 4096;

export interface Log extends Logger {
  /** Writes out what is pending; nothing may be logged afterwards. */
  readonly end: () => Promise<void>;
}

/** Logs to stdout, a JSON object a line. */
export function openLog({ LOG_LEVEL, WORKERS }: Pick<Configuration, 'LOG_LEVEL' | 'WORKERS'>): Log {
  // Not `sync`: a line per request would make every answer wait for whoever reads stdout.
  const stdout = destination({
    dest: 1,
    sync: false,
    maxLength: maxPendingBytes,
    ...(WORKERS > 1 && { maxWrite: atomicBytes }),
  });
  const end = async () => {
    const ended = once(stdout, 'close');
    stdout.end();
    await Promise.race([ended, sleep(endDeadlineMs)]);
  };
  return Object.assign(pino({ level: LOG_LEVEL }, stdout), { end });
}

/**
 * A line for a request, as `LOG_REQUESTS` asks. It says only what an exchange holds: no header, no query, no body, so
 * no key.
 */
export function requestLog(
  log: Logger,
  { LOG_REQUESTS }: Pick<Configuration, 'LOG_REQUESTS'>,
): ((exchange: Exchange) => void) | undefined {
  if (LOG_REQUESTS === 'none') return undefined;
  const logsAll = LOG_REQUESTS === 'all';
  let shed = 0;
  const tellShed = () => {
    log.error({ requests: shed }, 'refused for load');
    shed = 0;
  };
  return (exchange) => {
    const { durationMs, error, isStream, status } = exchange;
    // A line for each would cost more than the refusal, when there is the least to spare.
    if (!logsAll && exchange.limit === 'queue-time') {
      if (shed === 0) setTimeout(tellShed, shedEveryMs).unref();
      shed += 1;
      return;
    }
    const slow = durationMs > slowMs && !isStream;
    // Hot path: by default most requests end here.
    if (!logsAll && status < 300 && error === undefined && !slow) return;
    const { requestId, method, path, face, operation, limit } = exchange;
    const request = { requestId, method, path, face, operation, status, durationMs, limit };
    const level = status >= 500 || error !== undefined ? 'error' : slow ? 'warn' : 'info';
    log[level](error === undefined ? request : { ...request, err: error }, slow ? 'slow request' : 'request');
  };
}
