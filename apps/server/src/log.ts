import { once } from 'node:events';
import { hostname } from 'node:os';
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

/** What every line says of where it comes from. */
const base = { pid: process.pid, hostname: hostname() };
const baseText = `,${JSON.stringify(base).slice(1, -1)}`;

export interface Log extends Logger {
  /** Adds a line of its own making, which ends with a line feed. It goes out when the event loop turns. */
  readonly line: (line: string) => void;
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
  // Each write to pino's destination costs 3 µs, twice what it takes to make the line.
  let lines = '';
  let bytes = 0;
  let isEnded = false;
  const flush = () => {
    // A call that the stop cut off may end after the log. What is written then throws, and nobody would catch it here.
    if (lines !== '' && !isEnded) stdout.write(lines);
    lines = '';
    bytes = 0;
  };
  // Before pino's own listener, which writes out what its destination has.
  process.prependListener('exit', flush);
  const write = (text: string) => {
    // In the order that they came in.
    flush();
    stdout.write(text);
  };
  const line = (text: string) => {
    const length = Buffer.byteLength(text);
    if (lines === '') setImmediate(flush);
    else if (bytes + length > atomicBytes) flush();
    lines += text;
    bytes += length;
  };
  const end = async () => {
    flush();
    isEnded = true;
    process.off('exit', flush);
    const ended = once(stdout, 'close');
    stdout.end();
    await Promise.race([ended, sleep(endDeadlineMs)]);
  };
  return Object.assign(pino({ level: LOG_LEVEL, base }, { write }), { line, end });
}

/**
 * A line for a request, as `LOG_REQUESTS` asks. It says only what an exchange holds: no header, no query, no body, so
 * no key.
 */
export function requestLog(
  log: Pick<Log, 'line'> & Logger,
  { LOG_REQUESTS }: Pick<Configuration, 'LOG_REQUESTS'>,
): ((exchange: Exchange) => void) | undefined {
  if (LOG_REQUESTS === 'none') return undefined;
  const logsAll = LOG_REQUESTS === 'all';
  const isTold = log.isLevelEnabled('info');
  const level = log.levels.values['info'];
  let shed = 0;
  const tellShed = () => {
    log.error({ requests: shed }, 'refused for load');
    shed = 0;
  };
  return (exchange) => {
    const { error, isStream, status } = exchange;
    // A line for each would cost more than the refusal, when there is the least to spare.
    if (!logsAll && exchange.limit === 'queue-time') {
      if (shed === 0) setTimeout(tellShed, shedEveryMs).unref();
      shed += 1;
      return;
    }
    const slow = exchange.durationMs > slowMs && !isStream;
    const isFailure = status >= 500 || error !== undefined;
    // Hot path: by default most requests end here.
    if (!logsAll && status < 300 && !isFailure && !slow) return;
    if (isFailure || slow) {
      const { requestId, method, path, face, operation, durationMs, limit } = exchange;
      const request = { requestId, method, path, face, operation, status, durationMs, limit };
      const told = error === undefined ? request : { ...request, err: error };
      log[isFailure ? 'error' : 'warn'](told, slow ? 'slow request' : 'request');
    } else if (isTold) {
      log.line(requestLine(level, exchange));
    }
  };
}

/** A line as pino writes it: in 1 µs, not 6, a third of what a 401 costs. */
function requestLine(
  level: number | undefined,
  { requestId, method, path, face, operation, status, durationMs, limit }: Exchange,
): string {
  const named = operation === undefined ? '' : `,"operation":${JSON.stringify(operation)}`;
  const limited = limit === undefined ? '' : `,"limit":"${limit}"`;
  // To the microsecond: all digits of the clock cost more to write than the rest.
  const ms = Math.round(durationMs * 1000) / 1000;
  return (
    `{"level":${level},"time":${Date.now()}${baseText},"requestId":${JSON.stringify(requestId)},` +
    `"method":${JSON.stringify(method)},"path":${JSON.stringify(path)},"face":"${face}"${named},` +
    `"status":${status},"durationMs":${ms}${limited},"msg":"request"}\n`
  );
}
