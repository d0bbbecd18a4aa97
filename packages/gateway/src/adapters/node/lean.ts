// Hot path: every request and every response is one of these. They need what Node does but does not document: its parser
// passes bodies to `push`, and it goes on with a connection at `finish`. `leanCheck.ts` tries it when a server starts, and
// `serve` does without them where it fails.
import { Buffer } from 'node:buffer';
import { http } from './builtins.ts';

/**
 * A message of node:http whose body goes from the parser to its reader, not through the queue of a `Readable`, which costs
 * 1 µs even of a request without a body.
 */
export class LeanMessage extends http.IncomingMessage {
  /** Takes the chunks of the body, and `null` at its end. @returns whether more may follow at once */
  receiver: ((chunk: Uint8Array | null) => boolean) | undefined;

  /** The parser calls it. */
  override push(chunk: Uint8Array | null): boolean {
    return this.receiver ? this.receiver(chunk) : true;
  }

  /** Node calls it when the response has ended, to drop what is left of the body. */
  override resume(): this {
    return this;
  }
}

/** Node waits for its `end` otherwise, which a message that is not read as a stream does not emit. */
Object.defineProperty(LeanMessage.prototype, 'readableEnded', { value: true });

/** A response of node:http that can be written at once, with what follows it on its connection. */
export class LeanResponse extends http.ServerResponse<LeanMessage> {
  /** Whether nothing else is being written on its connection, and the connection can be written. */
  get isFree(): boolean {
    return this.socket !== null && this.socket.writable && this.socket.writableLength === 0;
  }

  /**
   * Writes a whole response as text, past `writeHead` and `end`, which cost 3 µs more (Node 22). Call it where `isFree`.
   * It emits `finish`, which is what Node waits for before it goes on with the connection.
   * @param bytes the body, where it is not text
   * @returns whether the connection has taken it all; if not, it is written as it does
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
    // Called when everything before it is written, or the connection has ended.
    socket.write('', (error) => {
      if (!error) this.emit('finish');
    });
    return false;
  }
}

/** Node writes ASCII in half the time when it is called Latin-1. */
const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;
