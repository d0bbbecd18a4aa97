import { memberNames, formatValue, unknownOptions } from '@petstore/gateway/listen';
import { type LevelWithSilent, levels } from 'pino';
import type { LogPart } from '../parts.ts';
import { openLog } from './openLog.ts';
import { requestLog, type RequestLogOptions } from './requestLog.ts';

export interface LogOptions extends Partial<RequestLogOptions> {
  /** The least severe lines that are logged. Default: `info`. */
  readonly level?: LevelWithSilent;
}

const names = memberNames<LogOptions>({ level: true, requests: true, kindOf: true });

/**
 * Logs to stdout, a JSON object per line, the requests as `requests` says (default: `errors`).
 * @throws {RangeError} for an unknown option, level or `requests`
 */
export function log(options: LogOptions = {}): LogPart {
  const { level = 'info', requests = 'errors', kindOf } = options;
  const faults = [
    ...unknownOptions('log', options, names),
    ...unlessOneOf('level', level, [...Object.keys(levels.values), 'silent']),
    ...unlessOneOf('requests', requests, ['errors', 'all', 'none']),
  ];
  if (faults.length > 0) throw new RangeError(faults.join('\n'));
  return {
    open({ fields, isShared }) {
      const opened = openLog({ level, isShared, fields });
      return { log: opened, requests: requestLog(opened, { requests, kindOf }), end: opened.end };
    },
  };
}

function unlessOneOf(name: string, value: string, expected: readonly string[]): readonly string[] {
  if (expected.includes(value)) return [];
  return [`The option ${name} of log is ${formatValue(value)}; it must be one of ${expected.join(', ')}.`];
}
