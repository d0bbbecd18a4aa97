import { connect, type Socket } from 'node:net';

/** Slow and silent clients. They reconnect when the server closes their connection. */
export interface DifficultClients {
  /** Returns how often the server closed a connection. */
  readonly closed: () => number;
  readonly stop: () => void;
}

/** The number of clients of each kind. */
interface ClientCounts {
  /** Clients that read a large response slowly. */
  readonly readers: number;
  /** Clients that send a head or a body byte by byte. */
  readonly writers: number;
  /** Clients that connect and send nothing. */
  readonly silent: number;
}

interface ClientRequests {
  /** A request with a large response. */
  readonly large: string;
  /** The head of a request with a body, without its last line end. */
  readonly bodyHead: string;
}

/** How much a reader reads per tick: far slower than a network, and fast enough to finish a response of 1 MB. */
const readBytes = 4096;
const tickMs = 100;
/** The delay between the starts of two readers, in ticks. */
const startGapTicks = 10;

export function startDifficultClients(
  port: number,
  { readers, writers, silent }: ClientCounts,
  { large, bodyHead }: ClientRequests,
): DifficultClients {
  const sockets = new Set<Socket>();
  let closed = 0;
  let isStopping = false;

  /**
   * Opens a connection, and another one whenever the server closes it.
   * @param tick called every 100 ms
   */
  function client(begin: (socket: Socket) => void, tick: (socket: Socket) => void): void {
    const socket = connect(port, '127.0.0.1', () => begin(socket));
    const timer = setInterval(() => {
      if (socket.writable && !socket.connecting) tick(socket);
    }, tickMs);
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

  const repeat = (count: number, start: (at: number) => void) => {
    for (let at = 0; at < count; at += 1) start(at);
  };
  repeat(readers, (at) => {
    // The readers start one after the other: the test is about slow reads, not about many large requests at once.
    let ticksToStart = at * startGapTicks;
    client(
      () => {},
      (socket) => {
        const chunk = (socket.read(readBytes) ?? socket.read()) as Buffer | null;
        const isWhole = chunk?.toString('latin1', chunk.length - 2) === '}]';
        if (isWhole || ticksToStart === 0) socket.write(large);
        ticksToStart -= 1;
      },
    );
  });
  repeat(writers, (at) =>
    client(
      (socket) => {
        // Discards what the server sends, so that its close is noticed.
        socket.resume();
        socket.write(at % 2 === 0 ? `${bodyHead}X-Slow: ` : `${bodyHead}\r\n`);
      },
      (socket) => {
        socket.write('a');
      },
    ),
  );
  repeat(silent, () =>
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
