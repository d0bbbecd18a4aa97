/** Where a service listens, on which adapter, and why not on a faster one. */
export interface ListeningOn {
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
export function listeningText({ origin, server, fallbackReason }: ListeningOn): string {
  const where = `${origin}, on ${serverNames[server] ?? server}`;
  return fallbackReason === undefined ? where : `${where}, because ${fallbackReason}`;
}

/** Prints on a terminal where the service listens, beside a log that programs read. */
export function announce(listening: ListeningOn): void {
  if (process.stderr.isTTY) process.stderr.write(`Listening on ${listeningText(listening)}\n`);
}
