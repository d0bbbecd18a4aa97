import { memberNames, formatValue, unknownOptions } from '@petstore/gateway/listen';
import { type LevelWithSilent, levels } from 'pino';
import type { LogPart } from '../parts.ts';
import { openLog } from './openLog.ts';
import { requestLog, type RequestLogOptions } from './requestLog.ts';

export interface LogOptions extends Partial<RequestLogOptions> {
  /** The lowest level that is logged. Default: `info`. */
  readonly level?: LevelWithSilent;
}

const logOptionNames = memberNames<LogOptions>({ level: true, requests: true, kindOf: true });

/**
 * Creates a log that writes one JSON object per line to stdout. `requests` selects which requests are logged (default:
 * `errors`).
 * @throws {RangeError} for an unknown option, or an unknown value of `level` or `requests`
 */
export function log(options: LogOptions = {}): LogPart {
  const { level = 'info', requests = 'errors', kindOf } = options;
  const problems = [
    ...unknownOptions('log', options, logOptionNames),
    ...checkOneOf('level', level, [...Object.keys(levels.values), 'silent']),
    ...checkOneOf('requests', requests, ['errors', 'all', 'none']),
  ];
  if (problems.length > 0) throw new RangeError(problems.join('\n'));
  return {
    open({ fields, isShared }) {
      const openedLog = openLog({ level, isShared, fields });
      return { log: openedLog, requests: requestLog(openedLog, { requests, kindOf }), end: openedLog.end };
    },
  };
}

function checkOneOf(name: string, value: string, expected: readonly string[]): readonly string[] {
  if (expected.includes(value)) return [];
  return [`The option ${name} of log is ${formatValue(value)}; it must be one of ${expected.join(', ')}.`];
}
