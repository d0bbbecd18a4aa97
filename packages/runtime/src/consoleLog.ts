import type { LogPart, ServiceLog } from './parts.ts';

/** Where a service listens, on which adapter, and why not on a faster one. */
interface ListeningOn {
  readonly origin: string;
  readonly server: string;
  readonly fallbackReason?: string | undefined;
}

const serverNames: Readonly<Record<string, string>> = {
  uws: 'uWebSockets.js',
  node: 'node:http',
  bun: 'Bun',
};

/** Formats where a service listens: `http://127.0.0.1:3000, on node:http, because uWebSockets.js is not installed.` */
function listeningText({ origin, server, fallbackReason }: ListeningOn): string {
  const where = `${origin}, on ${serverNames[server] ?? server}`;
  return fallbackReason === undefined ? where : `${where}, because ${fallbackReason}`;
}

/**
 * Logs that the service listens, with a warning if the process runs as root.
 * @param isOwnLog whether programs read the log, so that a terminal also gets a line for people
 */
export function logListening(log: ServiceLog, listening: ListeningOn, isOwnLog: boolean): void {
  if (process.getuid?.() === 0)
    log.warn(
      'running as root: run the service as its own user, which owns only the files that the service writes',
    );
  log.info(listening, 'listening');
  if (isOwnLog && process.stderr.isTTY) process.stderr.write(`Listening on ${listeningText(listening)}\n`);
}

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
