// Loads pino.
export { log, type LogOptions } from './log.ts';
export { type Log, openLog, type OpenLogOptions } from './openLog.ts';
export { requestLog, type RequestLog, type RequestLogOptions } from './requestLog.ts';
