/** Connections that are held, as a process: `startPinned(1, …)`. */
import { type DifficultClients, startDifficultClients } from './difficultClients.ts';
import { KeptConnection } from './keptConnection.ts';
import { respondToParent } from './pinned.ts';
import { createHead, getAll, getOne } from './requests.ts';

export type HolderMessage =
  | { readonly hold: { readonly port: number; readonly connections: number } }
  | { readonly drop: true };

/** What became of the connections that were held. */
export interface Held {
  readonly answered: number;
  /** Answers that were 503. */
  readonly refused: number;
  /** Other answers, and connections that were closed before theirs. */
  readonly failed: number;
  /** How often the server closed a connection of a slow or silent client. */
  readonly closedDifficult: number;
}

/** Each connection asks so often, in milliseconds: uWebSockets.js closes those that are quiet for 10 s. */
const pollMs = 8000;
/** How many connect at once: no more than fit the queue of the server's listener. */
const together = 200;
const difficultKinds = { readers: 20, writers: 50, silent: 200 };

let connections: KeptConnection[] = [];
let difficult: DifficultClients | undefined;
let timer: NodeJS.Timeout | undefined;
let response = 0;
let refused = 0;
let failed = 0;

async function hold(port: number, count: number): Promise<object> {
  const request = Buffer.from(getOne);
  response = 0;
  refused = 0;
  failed = 0;
  connections = Array.from(
    { length: count },
    () =>
      new KeptConnection(
        port,
        (_connection, { status }) => {
          if (status === 200) response += 1;
          else if (status === 503) refused += 1;
          else failed += 1;
        },
        () => {
          failed += 1;
        },
      ),
  );
  for (let at = 0; at < count; at += together) {
    const opened = connections.slice(at, at + together);
    await Promise.all(opened.map((connection) => connection.open()));
    // Each has asked once before it is idle, as those do that come back.
    for (const connection of opened) connection.send(request, 0);
  }
  const begun = performance.now();
  let asked = 0;
  timer = setInterval(() => {
    const due = ((performance.now() - begun) / pollMs) * count;
    for (; asked < due; asked += 1) {
      const connection = connections[asked % count];
      // A second request on its way would end the connection.
      if (connection?.isBusy === false) connection.send(request, 0);
    }
  }, 5);
  difficult = startDifficultClients(port, difficultKinds, { large: getAll, bodyHead: createHead });
  return {};
}

function drop(): Held {
  clearInterval(timer);
  for (const connection of connections) connection.close();
  difficult?.stop();
  return { answered: response, refused, failed, closedDifficult: difficult?.closed() ?? 0 };
}

respondToParent(async (received) => {
  const message = received as HolderMessage;
  return 'drop' in message ? drop() : hold(message.hold.port, message.hold.connections);
});
