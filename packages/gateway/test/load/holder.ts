/** A process that holds connections. Start it with `startPinned(1, …)`. */
import { type DifficultClients, startDifficultClients } from './difficultClients.ts';
import { KeptConnection } from './keptConnection.ts';
import { respondToParent } from './pinned.ts';
import { createHead, getAll, getOne } from './requests.ts';

export type HolderMessage =
  | { readonly hold: { readonly port: number; readonly connections: number } }
  | { readonly drop: true };

/** The results of the held connections. */
export interface Held {
  readonly served: number;
  /** Responses with 503. */
  readonly rejected: number;
  /** Other responses, and connections that closed before their response. */
  readonly failures: number;
  /** How often the server closed the connection of a slow or silent client. */
  readonly closedDifficult: number;
}

/** The interval of requests on each connection, in milliseconds. uWebSockets.js closes a connection after 10 s idle. */
const pollMs = 8000;
/** How many clients connect at once: not more than fit the accept queue of the server. */
const connectBatch = 200;
const difficultCounts = { readers: 20, writers: 50, silent: 200 };

let connections: KeptConnection[] = [];
let difficult: DifficultClients | undefined;
let timer: NodeJS.Timeout | undefined;
let served = 0;
let rejected = 0;
let failures = 0;

async function hold(port: number, count: number): Promise<object> {
  const request = Buffer.from(getOne);
  served = 0;
  rejected = 0;
  failures = 0;
  connections = Array.from(
    { length: count },
    () =>
      new KeptConnection(
        port,
        (_connection, { status }) => {
          if (status === 200) served += 1;
          else if (status === 503) rejected += 1;
          else failures += 1;
        },
        () => {
          failures += 1;
        },
      ),
  );
  for (let at = 0; at < count; at += connectBatch) {
    const opened = connections.slice(at, at + connectBatch);
    await Promise.all(opened.map((connection) => connection.open()));
    // Each connection sends one request before it is idle, as returning clients do.
    for (const connection of opened) connection.send(request, 0);
  }
  const begun = performance.now();
  let sent = 0;
  timer = setInterval(() => {
    const due = ((performance.now() - begun) / pollMs) * count;
    for (; sent < due; sent += 1) {
      const connection = connections[sent % count];
      // A second request in flight would close the connection.
      if (connection?.isBusy === false) connection.send(request, 0);
    }
  }, 5);
  difficult = startDifficultClients(port, difficultCounts, { large: getAll, bodyHead: createHead });
  return {};
}

function drop(): Held {
  clearInterval(timer);
  for (const connection of connections) connection.close();
  difficult?.stop();
  return { served, rejected, failures, closedDifficult: difficult?.closed() ?? 0 };
}

respondToParent(async (received) => {
  const message = received as HolderMessage;
  return 'drop' in message ? drop() : hold(message.hold.port, message.hold.connections);
});
