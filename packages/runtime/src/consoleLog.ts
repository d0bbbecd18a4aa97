import type { LogPart, ServiceLog } from './parts.ts';

/** The default log: messages as plain text on stdout, errors on stderr. */
export const consoleLog: LogPart = {
  open() {
    const info: ServiceLog['info'] = (fields, message) => {
      const { origin } = Object(fields) as { readonly origin?: string };
      const text = message ?? String(fields);
      process.stdout.write(`${origin === undefined ? text : `${text} on ${origin}`}\n`);
    };
    const error: ServiceLog['error'] = (fields, message) => {
      const stack = fields instanceof Error ? fields.stack : undefined;
      const text = message ?? String(fields);
      process.stderr.write(`${stack === undefined ? text : `${text}\n${stack}`}\n`);
    };
    return { log: { info, warn: info, error, fatal: error }, end: async () => {} };
  },
};
