// Hot path of the generator: it must send more requests than the server can serve.
import { connect, type Socket } from 'node:net';

/** The status and size of a complete response. */
export interface ResponseSummary {
  readonly status: number;
  readonly bytes: number;
}

const headEnd = Buffer.from('\r\n\r\n');
const lengthHeader = /\r\ncontent-length: (\d+)/i;

/** Returns a summary of the response, or `undefined` if it is incomplete. */
function readResponse(bytes: Buffer): ResponseSummary | undefined {
  const bodyStart = bytes.indexOf(headEnd) + headEnd.length;
  if (bodyStart < headEnd.length) return undefined;
  const length = Number(lengthHeader.exec(bytes.toString('latin1', 0, bodyStart))?.[1] ?? 0);
  if (bytes.length < bodyStart + length) return undefined;
  // The three digits after `HTTP/1.1 `.
  const status = (bytes[9] ?? 0) * 100 + (bytes[10] ?? 0) * 10 + (bytes[11] ?? 0) - 48 * 111;
  return { status, bytes: bodyStart + length };
}

/** The buffer that all sockets of the process read into. Its bytes are processed before the next socket is read. */
const readBuffer = Buffer.allocUnsafeSlow(262_144);

/** A persistent connection with at most one request in flight. It reconnects when the server closes it. */
export class KeptConnection {
  readonly #port: number;
  readonly #onResponse: (connection: KeptConnection, response: ResponseSummary) => void;
  readonly #onLost: (connection: KeptConnection) => void;
  #socket: Socket | undefined;
  #incomplete: Buffer | undefined;
  #isClosing = false;
  isBusy = false;
  /** The intended time of the request in flight, by `performance.now()`. */
  intendedAt = 0;

  /** @param onLost called if the connection closes before the response */
  constructor(
    port: number,
    onResponse: (connection: KeptConnection, response: ResponseSummary) => void,
    onLost: (connection: KeptConnection) => void,
  ) {
    this.#port = port;
    this.#onResponse = onResponse;
    this.#onLost = onLost;
  }

  /** Resolves when the socket is connected. */
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
    this.#incomplete = undefined;
    const wasBusy = this.isBusy;
    this.isBusy = false;
    void this.open().then(done);
    if (wasBusy) this.#onLost(this);
  }

  #read(chunk: Buffer): void {
    const bytes = this.#incomplete === undefined ? chunk : Buffer.concat([this.#incomplete, chunk]);
    const response = readResponse(bytes);
    if (response === undefined) {
      // Copied: all sockets share the buffer.
      this.#incomplete = Buffer.from(bytes);
      return;
    }
    this.#incomplete = undefined;
    this.isBusy = false;
    this.#onResponse(this, response);
  }
}
