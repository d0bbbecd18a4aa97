// Hot path: one object per request.
import type { HttpRequest, Bytes } from '../../http/request.ts';
import { BodyBuffer, maxDiscardedBytes, type BodySource } from './bodyBuffer.ts';
import { ReceivedHead } from './requestHead.ts';

/** Creates the abort reason of `signal`, which is also the error of a body that is being read. */
const disconnectError = () => new DOMException('The client disconnected.', 'AbortError');

/** A request from a connection. Call `keep` before the next one is read, unless the response has been written. */
export abstract class ServerRequest extends ReceivedHead implements HttpRequest, BodySource {
  /** Whether the client has disconnected. Nothing can be written then. */
  isAborted = false;
  /** Whether the client waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1). */
  awaitsContinue = false;
  /** Whether nothing must be written any more, because the response has ended or the client has disconnected. */
  hasEnded = false;
  /** Whether `bodyNow` has returned the whole body, so that none of it is left to discard. */
  isBodyTaken = false;

  protected address: string | undefined;
  #isKept = false;
  #abort: AbortController | undefined;
  #body: BodyBuffer | undefined;
  #onBody: (() => void) | undefined;
  #listeners: ((reason: unknown) => void)[] | undefined;

  remoteAddress(): string {
    if (this.address !== undefined) return this.address;
    return this.hasEnded ? '' : this.readAddress();
  }

  body(maxBytes: number): Promise<Bytes> {
    return this.#receiveBody().read(Math.min(maxBytes, this.limits.maxBodySize));
  }

  bodyNow(maxBytes: number): Bytes | undefined {
    const bytes = this.#body?.takeWhole(Math.min(maxBytes, this.limits.maxBodySize));
    if (bytes) this.isBodyTaken = true;
    return bytes;
  }

  bodyChunks(maxBytes: number): AsyncIterable<Bytes> {
    return this.#receiveBody().chunks(maxBytes);
  }

  /** Whether a response before the one to this request is not sent yet, on adapters that let pipelined requests wait. */
  get isBehind(): boolean {
    return false;
  }

  get receivedBytes(): number {
    return this.#body?.size ?? 0;
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.isAborted && !this.#abort.signal.aborted) this.#abort.abort(disconnectError());
    return this.#abort.signal;
  }

  whenAborted(listener: (reason: unknown) => void): void {
    (this.#listeners ??= []).push(listener);
  }

  /** Calls `next` synchronously from the parser when the body is complete, or when the client has disconnected. */
  whenBodyReceived(next: () => void): void {
    this.#onBody = next;
    this.keep();
  }

  /** Copies the headers and attaches listeners, for a request that outlives its handler: its response is written later. */
  keep(): void {
    if (this.#isKept) return;
    this.#isKept = true;
    this.watchConnection();
    this.keepHead();
    // The body must be received from now on: earlier chunks would be lost.
    if (this.bodyLength !== 0) this.#receiveBody();
  }

  discardBody(): void {
    this.#body?.discard();
  }

  onResponseEnd(): void {
    this.hasEnded = true;
    if (!this.#isKept) this.dropHead();
  }

  /** Called when the request is about to become a WebSocket: it stays readable and can have no response. */
  onUpgrade(): void {
    this.keep();
    this.address = this.remoteAddress();
    this.onResponseEnd();
  }

  /** Called when the client has disconnected, or the WebSocket that this request became has closed. */
  onDisconnect(): void {
    this.isAborted = true;
    this.hasEnded = true;
    const reason = disconnectError();
    this.#body?.abort(reason);
    this.#abort?.abort(reason);
    for (const listener of this.#listeners ?? []) listener(reason);
    this.onBodyEnd();
  }

  onBodyEnd(): void {
    const next = this.#onBody;
    this.#onBody = undefined;
    next?.();
  }

  /** Whether the rest of the body is longer than the server reads after a response, or of unknown length. */
  get exceedsDiscardLimit(): boolean {
    return this.#body?.exceedsDiscardLimit ?? !(this.bodyLength <= maxDiscardedBytes);
  }

  /** Waits until the body has ended or no more of it is received, at most for `ms`. */
  async whenBodyEnded(ms: number): Promise<void> {
    if (Number.isNaN(this.bodyLength) || !this.exceedsDiscardLimit) await this.#body?.whenEnded(ms);
  }

  abstract controlBody(action: 'pause' | 'resume' | 'close'): void;

  /** Returns the address of the client. Not called after the request has ended. */
  protected abstract readAddress(): string;

  /** Makes sure that `onDisconnect` is called when the client disconnects. Called once. */
  protected abstract watchConnection(): void;

  /** Starts pushing the chunks of the body into the buffer. Called once, for a request with a body. */
  protected abstract receive(body: BodyBuffer): void;

  #receiveBody(): BodyBuffer {
    if (this.#body) return this.#body;
    const body = new BodyBuffer(this.bodyLength, this.limits.maxStreamSize, this);
    this.#body = body;
    if (this.isAborted) body.abort(disconnectError());
    else if (this.hasEnded) body.abort(new Error('The response was sent before the request body was read.'));
    else if (this.bodyLength === 0) body.push(new Uint8Array(0), true);
    else this.receive(body);
    return body;
  }
}
