import { optional, optionProblems, type OptionRules } from 'trpc-gateway/options';
import { type LevelWithSilent, levels } from 'pino';
import type { LogPart } from '../parts.ts';
import { openLog } from './openLog.ts';
import { requestLog, type RequestLogOptions } from './requestLog.ts';

export interface LogOptions extends Partial<RequestLogOptions> {
  /** The lowest level that is logged. Default: `info`. */
  readonly level?: LevelWithSilent;
}

const oneOf = (...values: readonly string[]) =>
  optional((value) => values.some((each) => each === value), `one of ${values.join(', ')}`);

const rules: OptionRules<LogOptions> = {
  level: oneOf(...Object.keys(levels.values), 'silent'),
  requests: oneOf('errors', 'all', 'none'),
  kindOf: optional((value) => typeof value === 'function', 'a function'),
};

/**
 * Creates a log of JSON lines on stdout. `requests` selects which requests are logged (default: `errors`).
 * @throws {RangeError} for an unknown option, or an unknown value of `level` or `requests`
 */
export function log(options: LogOptions = {}): LogPart {
  const { level = 'info', requests = 'errors', kindOf } = options;
  const problems = optionProblems('log', options, rules, 'log.');
  if (problems.length > 0) throw new RangeError(problems.join('\n'));
  return {
    open({ fields, isShared }) {
      const openedLog = openLog({ level, isShared, fields });
      return { log: openedLog, requests: requestLog(openedLog, { requests, kindOf }), end: openedLog.end };
    },
  };
}
