import { once } from 'node:events';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { destination, type LevelWithSilent, type Logger, pino } from 'pino';

/** What is kept for a reader of stdout that stopped reading; lines beyond it are dropped. */
const maxPendingBytes = 8_388_608;

/** How long the end waits for whoever reads stdout, in milliseconds. */
const endDeadlineMs = 1_000;

/** What Linux writes to a pipe in one piece (PIPE_BUF): the lines of several processes stay whole, up to that length. */
const atomicBytes = 4096;

/** What every line says of where it comes from. */
const base = { pid: process.pid, hostname: hostname() };
/** The same in the text of a line. */
export const baseText = `,${JSON.stringify(base).slice(1, -1)}`;

export interface Log extends Logger {
  /** Adds a line of its own making, which ends with a line feed. It goes out when the event loop turns. */
  readonly line: (line: string) => void;
  /** Writes out what is pending; nothing may be logged afterwards. */
  readonly end: () => Promise<void>;
}

export interface OpenLogOptions {
  /** The least severe lines that are logged. */
  readonly level: LevelWithSilent;
  /** Whether other processes write to the same stdout: each write is then small enough for a pipe to keep it whole. */
  readonly isShared: boolean;
  /** Further fields of each line but those of requests, when it is logged, such as the ids of a trace. */
  readonly fields?: (() => object) | undefined;
}

/** Logs to stdout, a JSON object per line. */
export function openLog({ fields, level, isShared }: OpenLogOptions): Log {
  // Not `sync`: a line per request would make every answer wait for whoever reads stdout.
  const stdout = destination({
    dest: 1,
    sync: false,
    maxLength: maxPendingBytes,
    ...(isShared && { maxWrite: atomicBytes }),
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
  return Object.assign(pino({ level, base, ...(fields && { mixin: fields }) }, { write }), { line, end });
}
