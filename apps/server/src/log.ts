import { once } from 'node:events';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError, type StoreErrorCode } from '@petstore/core';
import type { Exchange } from '@petstore/gateway';
import { destination, type Logger, pino } from 'pino';
import type { Configuration } from './configuration.ts';

/** An answer that took longer is logged as slow, in milliseconds. */
const slowMs = 1_000;

/** How often further requests of one kind get a line together, in milliseconds. */
const summaryEveryMs = 1_000;

/** What a line has of a text that the client chose, in bytes. */
const maxTextBytes = 256;

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

/** Logs a warning where the process runs as root. */
export function warnIfRoot(log: Pick<Logger, 'warn'>): void {
  if (process.getuid?.() !== 0) return;
  log.warn(
    'running as root: run the service as a user of its own that owns the data folder, and nothing else',
  );
}

export interface RequestLog {
  readonly onExchange: (exchange: Exchange) => void;
  /** Writes the lines that are still due. */
  readonly end: () => void;
}

/** Requests that were answered in the same way as one that got a line of its own less than a second ago. */
interface Further {
  readonly level: 'info' | 'warn' | 'error';
  readonly kind: Readonly<Record<string, unknown>>;
  readonly timer: NodeJS.Timeout;
  requests: number;
}

/**
 * Logs requests, as `LOG_REQUESTS` says. A line holds only what an exchange holds: no header, no query, no body, so no
 * key. Anyone who reaches the port can have requests rejected, without a key: with `errors` each kind of them (a status,
 * a limit, a failure of the store) gets at most two lines a second, the first request whole and the number of the others.
 */
export function requestLog(
  log: Pick<Log, 'line'> & Logger,
  { LOG_REQUESTS }: Pick<Configuration, 'LOG_REQUESTS'>,
): RequestLog | undefined {
  if (LOG_REQUESTS === 'none') return undefined;
  const logsAll = LOG_REQUESTS === 'all';
  const logsInfo = log.isLevelEnabled('info');
  const infoLevel = log.levels.values['info'];
  const furtherByKind = new Map<string | number, Further>();

  function summarize(key: string | number): void {
    const further = furtherByKind.get(key);
    if (further === undefined) return;
    furtherByKind.delete(key);
    clearTimeout(further.timer);
    const { level, kind, requests } = further;
    if (requests > 0) log[level]({ ...kind, requests }, 'further requests');
  }

  /** @returns whether it is the first of its kind for a second; the others are counted */
  function isFirst(key: string | number, level: Further['level'], kind: Further['kind']): boolean {
    const further = furtherByKind.get(key);
    if (further !== undefined) {
      further.requests += 1;
      return false;
    }
    const timer = setTimeout(summarize, summaryEveryMs, key).unref();
    furtherByKind.set(key, { level, kind, timer, requests: 0 });
    return true;
  }

  function onExchange(exchange: Exchange): void {
    const { error, isStream, limit, status } = exchange;
    const slow = exchange.durationMs > slowMs && !isStream;
    const isFailure = error !== undefined || (status >= 500 && limit === undefined);
    // Hot path: by default most requests end here.
    if (!logsAll && status < 300 && !isFailure && !slow) return;
    const level = isFailure ? 'error' : slow || status >= 500 ? 'warn' : 'info';
    if (!logsAll) {
      const store = isFailure ? storeErrorCode(error) : undefined;
      const key = store ?? limit ?? (status < 300 ? 'slow' : status);
      // A failure that is not the store's is a fault of the code: each one may be another.
      const isCounted = !isFailure || store !== undefined;
      if (isCounted && !isFirst(key, level, { status, limit, store })) return;
    }
    if (level === 'info') {
      if (logsInfo) log.line(requestLine(infoLevel, exchange));
      return;
    }
    const { requestId, face, durationMs } = exchange;
    const method = shortened(exchange.method);
    const path = shortened(exchange.path);
    const operation = exchange.operation && shortened(exchange.operation);
    const request = { requestId, method, path, face, operation, status, durationMs, limit };
    log[level](error === undefined ? request : { ...request, err: error }, slow ? 'slow request' : 'request');
  }

  return {
    onExchange,
    end() {
      for (const key of furtherByKind.keys()) summarize(key);
    },
  };
}

/** What the store failed with, where that is why a request failed. */
function storeErrorCode(error: unknown): StoreErrorCode | undefined {
  const cause = error instanceof Error && !(error instanceof StoreError) ? error.cause : error;
  return cause instanceof StoreError ? cause.code : undefined;
}

/** Of a text that a client made long only the begin, marked with the length of the whole. */
function shortened(text: string): string {
  // A UTF-16 code unit takes three bytes at most.
  if (text.length * 3 <= maxTextBytes) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= maxTextBytes) return text;
  // A character that the cut goes through is left out.
  const begin = bytes.toString('utf8', 0, maxTextBytes).replace(/\uFFFD+$/, '');
  return `${begin}… (${bytes.length} bytes)`;
}

/** A line as pino writes it: in 1 µs, not 6, a third of what a 401 costs. */
function requestLine(
  level: number | undefined,
  { requestId, method, path, face, operation, status, durationMs, limit }: Exchange,
): string {
  const named = operation === undefined ? '' : `,"operation":${JSON.stringify(shortened(operation))}`;
  const limited = limit === undefined ? '' : `,"limit":"${limit}"`;
  // To the microsecond: all digits of the clock cost more to write than the rest.
  const ms = Math.round(durationMs * 1000) / 1000;
  return (
    `{"level":${level},"time":${Date.now()}${baseText},"requestId":${JSON.stringify(requestId)},` +
    `"method":${JSON.stringify(shortened(method))},"path":${JSON.stringify(shortened(path))},"face":"${face}"${named},` +
    `"status":${status},"durationMs":${ms}${limited},"msg":"request"}\n`
  );
}
