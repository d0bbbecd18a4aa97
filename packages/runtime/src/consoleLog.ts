import { type ListeningOn, listeningText } from './listeningText.ts';
import type { LogPart, ServiceLog } from './parts.ts';

/** The default log: messages as plain text on stdout, errors on stderr. */
export const consoleLog: LogPart = {
  open() {
    const info: ServiceLog['info'] = (fields, message) => {
      const text = message ?? String(fields);
      // The fields of the line `listening`.
      const isListening = fields instanceof Object && 'origin' in fields && 'server' in fields;
      process.stdout.write(`${isListening ? `${text} on ${listeningText(fields as ListeningOn)}` : text}\n`);
    };
    const error: ServiceLog['error'] = (fields, message) => {
      const stack = fields instanceof Error ? fields.stack : undefined;
      const text = message ?? String(fields);
      process.stderr.write(`${stack === undefined ? text : `${text}\n${stack}`}\n`);
    };
    return { log: { info, warn: info, error, fatal: error }, end: async () => {} };
  },
};
