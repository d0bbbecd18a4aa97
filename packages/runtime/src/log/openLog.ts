import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type LevelWithSilent, type Logger, pino } from 'pino';
import sonicBoom from 'sonic-boom';
import { syncResult } from '../hooks.ts';
import { serializeError } from './serializeError.ts';

/** Maximum size of the buffer for a slow reader of stdout. Lines beyond it are dropped. */
const maxPendingBytes = 8_388_608;

/** How long `end`, and then the exit of the process, wait for the reader of stdout. */
const endDeadlineMs = 1_000;

/** Linux writes up to this size to a pipe atomically (PIPE_BUF), so lines of several processes do not interleave. */
const atomicBytes = 4096;

export interface Log extends Logger {
  /** Flushes pending lines. Nothing may be logged afterwards. */
  readonly end: () => Promise<void>;
}

export interface OpenLogOptions {
  /** The lowest level that is logged. */
  readonly level: LevelWithSilent;
  /** True if other processes write to the same stdout: writes are then limited to the size that a pipe writes atomically. */
  readonly isShared: boolean;
  /** Returns additional fields of each line, such as trace ids. Called when the line is logged. */
  readonly fields?: (() => object) | undefined;
}

/** Names an error of stdout on stderr. */
function report({ message }: Error): void {
  try {
    writeSync(2, `The log cannot be written: ${message}. Up to 8 MiB of lines wait for the next try.\n`);
  } catch {
    // stderr has the same problem.
  }
}

/** Opens a log that writes one JSON object per line to stdout. Lines are buffered until the next event loop iteration. */
export function openLog({ fields, level, isShared }: OpenLogOptions): Log {
  let exitAt = Infinity;
  // Not pino's `destination`: that of pino 10.4 throws an error such as EIO of a closed terminal or ENOSPC, and then repeats
  // the write for ever at the exit of the process, where no signal ends it (mended in sonic-boom 5).
  const stdout = new sonicBoom.SonicBoom({
    fd: 1,
    // With a line per request every response would wait for the reader of stdout.
    sync: false,
    maxLength: maxPendingBytes,
    retryEAGAIN: () => performance.now() - exitAt < endDeadlineMs,
    ...(isShared && { maxWrite: atomicBytes }),
  });
  // Each further line repeats the write that failed.
  stdout.once('error', report).on('error', () => {});
  // A write costs as much as formatting a line. Lines of the turn in which a process is killed are lost.
  let lines = '';
  let bytes = 0;
  let isEnded = false;
  const flush = () => {
    // A call that was cut off by the stop may end after the log has. A write would then throw an uncaught error.
    if (lines !== '' && !isEnded) stdout.write(lines);
    lines = '';
    bytes = 0;
  };
  const onExit = () => {
    flush();
    exitAt = performance.now();
    try {
      stdout.flushSync();
    } catch {
      // Reported, if stderr has a reader.
    }
  };
  process.on('exit', onExit);
  stdout.once('close', () => process.off('exit', onExit));
  const write = (text: string) => {
    const length = Buffer.byteLength(text);
    if (lines === '') setImmediate(flush);
    else if (bytes + length > atomicBytes) flush();
    lines += text;
    bytes += length;
  };
  const end = async () => {
    flush();
    isEnded = true;
    const ended = once(stdout, 'close').catch(() => {});
    stdout.end();
    await Promise.race([ended, sleep(endDeadlineMs)]);
  };
  const serializers = { err: serializeError };
  return Object.assign(
    pino(
      {
        level,
        base: { pid: process.pid, hostname: hostname() },
        serializers,
        ...(fields && { mixin: () => syncResult('logFields', fields) ?? {} }),
      },
      { write },
    ),
    { end },
  );
}
