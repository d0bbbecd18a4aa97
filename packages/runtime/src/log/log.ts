import type { LevelWithSilent } from 'pino';
import type { LogPart } from '../parts.ts';
import { openLog } from './openLog.ts';
import { requestLog, type RequestLogOptions } from './requestLog.ts';

export interface LogOptions extends Partial<RequestLogOptions> {
  /** The least severe lines that are logged. Default: `info`. */
  readonly level?: LevelWithSilent;
}

/** Logs to stdout, a JSON object per line, the requests as `requests` says (default: `errors`). */
export const log = ({ level = 'info', requests = 'errors', kindOf }: LogOptions = {}): LogPart => ({
  open({ fields, isShared }) {
    const opened = openLog({ level, isShared, fields });
    return { log: opened, requests: requestLog(opened, { requests, kindOf }), end: opened.end };
  },
});
