import { connect, type Socket } from 'node:net';

/** Clients that take their time, on connections that are opened anew where the server has closed them. */
export interface DifficultClients {
  /** How often the server closed one. */
  readonly closed: () => number;
  readonly stop: () => void;
}

interface Kinds {
  /** How many read a large answer slowly. */
  readonly readers: number;
  /** How many send a head, or a body, byte by byte. */
  readonly writers: number;
  /** How many connect and say nothing. */
  readonly silent: number;
}

interface Requests {
  /** A request for much. */
  readonly large: string;
  /** The head of a request with a body, but for its last line end. */
  readonly bodyHead: string;
}

/** Much slower than any network, and quick enough that an answer of a megabyte has an end. */
const readBytes = 4096;
const everyMs = 100;
/** How much later than the one before each reader begins. */
const apartTicks = 10;

export function startDifficultClients(
  port: number,
  { readers, writers, silent }: Kinds,
  { large, bodyHead }: Requests,
): DifficultClients {
  const sockets = new Set<Socket>();
  let closed = 0;
  let isStopping = false;

  /** @param tick what it does every 100 ms */
  function client(begin: (socket: Socket) => void, tick: (socket: Socket) => void): void {
    const socket = connect(port, '127.0.0.1', () => begin(socket));
    const timer = setInterval(() => {
      if (socket.writable && !socket.connecting) tick(socket);
    }, everyMs);
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      clearInterval(timer);
      sockets.delete(socket);
      if (isStopping) return;
      closed += 1;
      client(begin, tick);
    });
  }

  const times = (count: number, make: (at: number) => void) => {
    for (let at = 0; at < count; at += 1) make(at);
  };
  times(readers, (at) => {
    // One after the other: what is measured is that they are slow, not that all ask for much at once.
    let waits = at * apartTicks;
    client(
      () => {},
      (socket) => {
        const chunk = (socket.read(readBytes) ?? socket.read()) as Buffer | null;
        const isWhole = chunk?.toString('latin1', chunk.length - 2) === '}]';
        if (isWhole || waits === 0) socket.write(large);
        waits -= 1;
      },
    );
  });
  times(writers, (at) =>
    client(
      (socket) => {
        // What the server says to it is thrown away, and its close is seen.
        socket.resume();
        socket.write(at % 2 === 0 ? `${bodyHead}X-Slow: ` : `${bodyHead}\r\n`);
      },
      (socket) => {
        socket.write('a');
      },
    ),
  );
  times(silent, () =>
    client(
      (socket) => {
        socket.resume();
      },
      () => {},
    ),
  );

  return {
    closed: () => closed,
    stop() {
      isStopping = true;
      for (const socket of sockets) socket.destroy();
    },
  };
}
