import { connect, type Socket } from 'node:net';

/** Why there was no response. */
export interface NoResponse {
  readonly wasReset: boolean;
}

export interface ParsedResponse {
  readonly status: number;
  /** Whether the server says that it closes the connection. */
  readonly closes: boolean;
}

/**
 * A connection for one request at a time, on a raw socket: `fetch` sends a request again where a connection was closed,
 * and does not distinguish a missing response from a connection that was closed before.
 */
export class HttpConnection {
  readonly #socket: Socket;
  /** Resolves when the connection is gone. */
  readonly closed: Promise<NoResponse>;
  isClosed = false;
  /** Whether nothing listened on the port. */
  wasRejected = false;
  #received = '';
  #onData = () => {};

  constructor(origin: string) {
    const { hostname, port } = new URL(origin);
    this.#socket = connect(Number(port), hostname).setEncoding('latin1').setNoDelay();
    let wasReset = false;
    this.#socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      this.wasRejected = code === 'ECONNREFUSED';
      wasReset = true;
    });
    this.#socket.on('data', (text: string) => {
      this.#received += text;
      this.#onData();
    });
    this.closed = new Promise((resolve) => {
      this.#socket.on('close', () => {
        this.isClosed = true;
        resolve({ wasReset });
      });
    });
  }

  /** The received part of an incomplete response. */
  get received(): string {
    return this.#received;
  }

  async call(request: string): Promise<ParsedResponse | NoResponse> {
    this.#received = '';
    const response = new Promise<ParsedResponse>((resolve) => {
      this.#onData = () => {
        const whole = parse(this.#received);
        if (whole) resolve(whole);
      };
    });
    this.#socket.write(request);
    return Promise.race([response, this.closed]);
  }

  /** Waits for the first bytes of a response. */
  async responseStarted(): Promise<void> {
    const begun = new Promise<void>((resolve) => (this.#onData = resolve));
    await Promise.race([begun, this.closed]);
  }

  send(request: string): void {
    this.#socket.write(request);
  }

  end(): void {
    this.#socket.end();
  }
}

function parse(text: string): ParsedResponse | undefined {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = text.slice(0, headEnd).toLowerCase();
  const length = Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? 0);
  if (text.length < headEnd + 4 + length) return undefined;
  return { status: Number(head.split(' ', 2)[1]), closes: head.includes('\r\nconnection: close') };
}
