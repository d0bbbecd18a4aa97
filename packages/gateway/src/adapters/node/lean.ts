// Hot path: one object of each class per request. They depend on undocumented behaviour of Node: its parser passes
// bodies to `push`, and it continues with the next request of a connection at `finish`. `supportsLean.ts` tests this when
// a server starts; if the test fails, `serve` uses Node's own classes.
import { Buffer } from 'node:buffer';
import { http } from './builtins.ts';

/**
 * A message of node:http whose body goes directly from the parser to its reader. The queue of a `Readable` would cost 1
 * µs, even for a request without a body.
 */
export class LeanMessage extends http.IncomingMessage {
  /** Receives the chunks of the body, and `null` at its end. Returns whether the parser may continue at once. */
  receiver: ((chunk: Uint8Array | null) => boolean) | undefined;

  /** Whether the client requests an upgrade, as set by Node. */
  isUpgrade = false;

  /**
   * Read by Node when the head is parsed. The parser stops at an upgrade, so it stops at the first request after the
   * connection was closed: for the rest of a segment, Node would create up to 2,000 requests and abort each with an error.
   */
  get upgrade(): boolean {
    return this.isUpgrade || this.socket.destroyed;
  }

  set upgrade(isUpgrade: boolean) {
    this.isUpgrade = isUpgrade;
  }

  /** Called by the parser with each chunk. */
  override push(chunk: Uint8Array | null): boolean {
    return this.receiver ? this.receiver(chunk) : true;
  }

  /** Called by Node when the response has ended, to drop the rest of the body. */
  override resume(): this {
    return this;
  }
}

/** Without it, Node waits for the event `end`, which a message that is not read as a stream does not emit. */
Object.defineProperty(LeanMessage.prototype, 'readableEnded', { value: true });

/** A response of node:http that can be written in one call. */
export class LeanResponse extends http.ServerResponse<LeanMessage> {
  /** Whether the connection is writable and has no unsent bytes. */
  get canWriteAtOnce(): boolean {
    return this.socket !== null && this.socket.writable && this.socket.writableLength === 0;
  }

  /**
   * Writes a whole response as text. It bypasses `writeHead` and `end`, which take 3 µs more (Node 22). Requires
   * `canWriteAtOnce`. Emits `finish`, for which Node waits before it continues with the connection.
   * @param bytes the body, if it is not text
   * @returns whether the socket has taken all of it; otherwise the rest is written as the client reads
   */
  sendWhole(text: string, bytes: Uint8Array | undefined): boolean {
    const { socket } = this;
    if (socket === null) throw new Error('Another response is being written on the connection.');
    if (bytes === undefined) socket.write(text, isAscii(text) ? 'latin1' : 'utf8');
    else {
      socket.cork();
      socket.write(text);
      socket.write(bytes);
      socket.uncork();
    }
    this.finished = true;
    if (socket.writableLength === 0) return this.emit('finish');
    // The callback runs when everything before is written, or the connection has ended.
    socket.write('', (error) => {
      if (!error) this.emit('finish');
    });
    return false;
  }
}

/** Node writes ASCII text as Latin-1 in half the time of UTF-8. */
const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;
