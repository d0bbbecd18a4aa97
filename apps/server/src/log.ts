import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Exchange } from '@petstore/gateway';
import { destination, type Logger, pino } from 'pino';
import type { Configuration } from './configuration.ts';

/** An answer that took longer is logged as slow, in milliseconds. */
const slowMs = 1_000;

/** What is kept for a reader of stdout that stopped reading; lines beyond it are dropped. */
const maxPendingBytes = 8_388_608;

/** How long the end waits for whoever reads stdout, in milliseconds. */
const endDeadlineMs = 1_000;

export interface Log extends Logger {
  /** Writes out what is pending; nothing may be logged afterwards. */
  readonly end: () => Promise<void>;
}

/** Logs to stdout, a JSON object a line. */
export function openLog({ LOG_LEVEL }: Pick<Configuration, 'LOG_LEVEL'>): Log {
  // Not `sync`: a line per request would make every answer wait for whoever reads stdout.
  const stdout = destination({ dest: 1, sync: false, maxLength: maxPendingBytes });
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
  return (exchange) => {
    const {
      error,
      isStream,
      procedures: _procedures,
      calls: _calls,
      bytesIn: _in,
      bytesOut: _out,
      ...request
    } = exchange;
    const { durationMs, status } = request;
    const slow = durationMs > slowMs && !isStream;
    const isGood = status < 300 && error === undefined;
    if (LOG_REQUESTS === 'errors' && isGood && !slow) return;
    const level = status >= 500 || error !== undefined ? 'error' : slow ? 'warn' : 'info';
    log[level](error === undefined ? request : { ...request, err: error }, slow ? 'slow request' : 'request');
  };
}
