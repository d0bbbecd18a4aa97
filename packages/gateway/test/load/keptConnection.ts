// Hot path of the generator: it must be able to ask for more than the server can answer.
import { connect, type Socket } from 'node:net';

/** What an answer was. */
export interface ResponseOrError {
  readonly status: number;
  readonly bytes: number;
}

const headEnd = Buffer.from('\r\n\r\n');
const lengthHeader = /\r\ncontent-length: (\d+)/i;

/** The end of a whole answer, or `undefined` where more of it has to come. */
function wholeResponse(bytes: Buffer): ResponseOrError | undefined {
  const bodyStart = bytes.indexOf(headEnd) + headEnd.length;
  if (bodyStart < headEnd.length) return undefined;
  const length = Number(lengthHeader.exec(bytes.toString('latin1', 0, bodyStart))?.[1] ?? 0);
  if (bytes.length < bodyStart + length) return undefined;
  // The digits behind `HTTP/1.1 `.
  const status = (bytes[9] ?? 0) * 100 + (bytes[10] ?? 0) * 10 + (bytes[11] ?? 0) - 48 * 111;
  return { status, bytes: bodyStart + length };
}

/** All sockets of the process read into one buffer: what is in it is read before another socket is. */
const readBuffer = Buffer.allocUnsafeSlow(262_144);

/** One connection that is kept alive, with at most one request on its way. It connects anew where it was closed. */
export class KeptConnection {
  readonly #port: number;
  readonly #onAnswer: (connection: KeptConnection, response: ResponseOrError) => void;
  readonly #onLost: (connection: KeptConnection) => void;
  #socket: Socket | undefined;
  #kept: Buffer | undefined;
  #isClosing = false;
  isBusy = false;
  /** When the request that is on its way was to be sent, by `performance.now()`. */
  intendedAt = 0;

  /** @param onLost called where a connection ends before its answer has come */
  constructor(
    port: number,
    onResponse: (connection: KeptConnection, response: ResponseOrError) => void,
    onLost: (connection: KeptConnection) => void,
  ) {
    this.#port = port;
    this.#onAnswer = onResponse;
    this.#onLost = onLost;
  }

  /** Resolves when it is connected. */
  open(): Promise<void> {
    return new Promise((resolve) => {
      const onread = {
        buffer: readBuffer,
        callback: (length: number) => {
          this.#read(readBuffer.subarray(0, length));
          return true;
        },
      };
      const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true, onread }, resolve);
      this.#socket = socket;
      socket.on('error', () => {});
      socket.once('close', () => this.#closed(resolve));
    });
  }

  send(request: Buffer, intendedAt: number): void {
    this.isBusy = true;
    this.intendedAt = intendedAt;
    this.#socket?.write(request);
  }

  close(): void {
    this.#isClosing = true;
    this.#socket?.destroy();
  }

  #closed(done: () => void): void {
    if (this.#isClosing) return done();
    this.#kept = undefined;
    const wasBusy = this.isBusy;
    this.isBusy = false;
    void this.open().then(done);
    if (wasBusy) this.#onLost(this);
  }

  #read(chunk: Buffer): void {
    const bytes = this.#kept === undefined ? chunk : Buffer.concat([this.#kept, chunk]);
    const response = wholeResponse(bytes);
    if (response === undefined) {
      // The buffer is everyone's.
      this.#kept = Buffer.from(bytes);
      return;
    }
    this.#kept = undefined;
    this.isBusy = false;
    this.#onAnswer(this, response);
  }
}
