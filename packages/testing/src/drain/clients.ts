import { setTimeout as sleep } from 'node:timers/promises';
import { HttpConnection } from './httpConnection.ts';

/** What clients must not see of a stop, on connections that were open before the signal. */
export interface Tally {
  /** Requests without a response. */
  lost: number;
  /** Streams of events that did not end in order behind an event. */
  brokenStreams: number;
  /** WebSockets that received no `reconnect` before they were closed (1001). */
  abruptSockets: number;
  /** Acknowledged creates that are missing or stored twice. */
  missing: number;
  /** Stored creates on WebSockets without a response: a client would repeat them. */
  unanswered: number;
}

/** The state that the clients of one round share. */
export interface Round {
  readonly origin: string;
  readonly apiKey: string;
  /** The path of what is created and listed, such as `/v1/pets`. */
  readonly path: string;
  readonly tally: Tally;
  /** Called by each client when it was answered first: from then on its connection is open for the server too. */
  readonly onOpen: () => void;
  /** Names of records whose create was answered, and of those whose was not, on WebSockets. */
  readonly created: Set<string>;
  readonly open: Set<string>;
}

const head = ({ apiKey }: Round, line: string) =>
  `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\n`;

function create(round: Round, name: string): string {
  const body = JSON.stringify({ name, categoryId: 1 });
  return `${head(round, `POST ${round.path}`)}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Creates records on one connection, in quick succession, until a response says `Connection: close`. */
export async function busyClient(round: Round, id: string): Promise<void> {
  const { tally } = round;
  const connection = new HttpConnection(round.origin);
  for (let count = 0; !connection.isClosed; count += 1) {
    const name = `${id} ${count}`;
    const response = await connection.call(create(round, name));
    if ('wasReset' in response) {
      tally.lost += 1;
      return;
    }
    if (response.status === 201) round.created.add(name);
    if (count === 0) round.onOpen();
    if (response.closes) return connection.end();
    await sleep(Math.random() * 20);
  }
}

/**
 * Sends about one request a second on a kept-alive connection. It may send just when its connection is closed, and lose a
 * request: HTTP/1.1 cannot announce it.
 */
export async function quietClient(round: Round): Promise<void> {
  const connection = new HttpConnection(round.origin);
  for (let count = 0; !connection.isClosed; count += 1) {
    const response = await connection.call(`${head(round, `GET ${round.path}?limit=1`)}\r\n`);
    if ('wasReset' in response) return;
    if (count === 0) round.onOpen();
    if (response.closes) return connection.end();
    await Promise.race([sleep(500 + Math.random() * 2_000), connection.closed]);
  }
}

/** Opens a connection for each request, also during the stop, until one is rejected. */
export async function newcomer(round: Round): Promise<void> {
  for (let rejections = 0; rejections < 3;) {
    const connection = new HttpConnection(round.origin);
    await connection.call(`${head(round, 'GET /healthz')}\r\n`);
    connection.end();
    // A rejected connection is not a loss: the server had not accepted it.
    if (connection.wasRejected) rejections += 1;
    await sleep(1);
  }
}

/** Reads a stream of events to its end, which must come behind an event, with the end of a chunked body. */
export async function eventClient({ apiKey, onOpen, origin, tally }: Round, path: string): Promise<void> {
  const connection = new HttpConnection(origin);
  connection.send(
    `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\nAccept: text/event-stream\r\n\r\n`,
  );
  await connection.responseStarted();
  onOpen();
  const { wasReset } = await connection.closed;
  // An event ends with an empty line, its chunk with CRLF, and then comes the last chunk (RFC 9112 §7.1).
  const isWhole = connection.received.endsWith('\n\n\r\n0\r\n\r\n');
  if (wasReset || !isWhole) tally.brokenStreams += 1;
}

/** Makes one call after the other on a WebSocket, until it receives `reconnect`. */
export async function socketClient(round: Round, id: string, path: string): Promise<void> {
  const { tally } = round;
  const socket = new WebSocket(`${round.origin.replace('http', 'ws')}/trpc?connectionParams=1`);
  const closed = new Promise<number>((resolve) => {
    socket.addEventListener('close', ({ code }) => resolve(code));
  });
  socket.addEventListener('open', () => {
    const data = { authorization: `Bearer ${round.apiKey}` };
    socket.send(JSON.stringify({ method: 'connectionParams', data }));
    request();
    request();
  });
  let count = 0;
  let isStopping = false;
  const names = new Map<number, string>();
  function request(): void {
    count += 1;
    const name = `${id} ${count}`;
    names.set(count, name);
    round.open.add(name);
    const params = { path, input: { name, categoryId: 1 } };
    socket.send(JSON.stringify({ id: count, jsonrpc: '2.0', method: 'mutation', params }));
  }
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as { id: number | null; method?: string; result?: unknown };
    if (message.method === 'reconnect') isStopping = true;
    if (message.id === null || isStopping) return;
    const name = names.get(message.id) ?? '';
    if (message.id === 1) round.onOpen();
    if (message.result !== undefined) {
      round.open.delete(name);
      round.created.add(name);
    }
    setTimeout(() => {
      if (!isStopping && socket.readyState === WebSocket.OPEN) request();
    }, Math.random() * 20);
  });
  if ((await closed) !== 1001 || !isStopping) tally.abruptSockets += 1;
}
