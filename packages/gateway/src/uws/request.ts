import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { GatewayRequest } from '../http.ts';
import { BodyBuffer, type Bytes } from './bodyBuffer.ts';

/** What `signal` aborts with, and what a body that was being read fails with. */
const clientGone = () => new DOMException('The client went away.', 'AbortError');

/**
 * A request of uWebSockets.js, made to outlive its handler.
 *
 * `HttpRequest` may be read only until the handler returns, and a body's `onData` must be attached by then: whatever is
 * not answered at once must be kept with `keep()`.
 */
export class UwsRequest implements GatewayRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly isChunked: boolean;
  /** Whether the client went away: from then on every method of the response throws. */
  isAborted = false;
  /** Whether the response is not to be touched any more: it has ended, or its client went away. */
  isOver = false;

  readonly #res: HttpResponse;
  #req: HttpRequest | undefined;
  #kept: readonly (readonly [name: string, value: string])[] = [];
  readonly #hasBody: boolean;
  readonly #maxBodyBytes: number;
  #abort: AbortController | undefined;
  #body: BodyBuffer | undefined;
  #address: string | undefined;

  /** @param maxBodyBytes how much of a body is kept before somebody reads it, who may allow less */
  constructor(res: HttpResponse, req: HttpRequest, maxBodyBytes: number) {
    this.#res = res;
    this.#maxBodyBytes = maxBodyBytes;
    this.#req = req;
    this.method = req.getCaseSensitiveMethod();
    this.path = req.getUrl();
    const query: string | undefined = req.getQuery();
    // The type says string; without a `?` it is undefined (uWebSockets.js 20).
    this.query = query ?? '';
    this.isChunked = req.getHeader('transfer-encoding') !== '';
    this.#hasBody = this.isChunked || Number(req.getHeader('content-length')) > 0;
  }

  header(name: string): string | undefined {
    // uWS gives '' for a header that is not there; an empty one says no more than none.
    if (this.#req) return this.#req.getHeader(name) || undefined;
    const values = this.#kept.filter((header) => header[0] === name);
    return values.length === 0 ? undefined : values[0]?.[1] || undefined;
  }

  headers(): Iterable<readonly [name: string, value: string]> {
    return this.#req ? readHeaders(this.#req) : this.#kept;
  }

  remoteAddress(): string {
    // Not kept from the start: few ask, and it costs each request a copy.
    if (this.#address !== undefined) return this.#address;
    return this.isOver ? '' : Buffer.from(this.#res.getRemoteAddressAsText()).toString();
  }

  body(maxBytes: number): Promise<Bytes> {
    return this.#receiveBody().read(maxBytes);
  }

  bodyChunks(maxBytes: number): AsyncIterable<Bytes> {
    return this.#receiveBody().chunks(maxBytes);
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController();
    if (this.isAborted && !this.#abort.signal.aborted) this.#abort.abort(clientGone());
    return this.#abort.signal;
  }

  /** Copies what is left of the handler's request. To be called in the handler, where no answer was given yet. */
  keep(): void {
    if (this.#req === undefined) return;
    this.#kept = readHeaders(this.#req);
    // A body may be asked for later, and what comes before an `onData` is attached is lost.
    if (this.#hasBody) this.#receiveBody();
    this.#req = undefined;
  }

  /** Forgets the handler's request where the answer was given in it. */
  release(): void {
    this.#req = undefined;
  }

  /** Nobody reads what is left of the body: it is taken and thrown away. */
  discardBody(): void {
    this.#body?.discard();
  }

  /** The answer has ended. */
  ended(): void {
    this.isOver = true;
  }

  /** The request is about to become a WebSocket: its response is gone then, and whoever asks later is told from a copy. */
  upgrades(): void {
    this.keep();
    this.#address = this.remoteAddress();
    this.isOver = true;
  }

  /** The host's `onAborted` (uWS keeps only the last one), or the end of what became a WebSocket. */
  aborted(): void {
    this.isAborted = true;
    this.isOver = true;
    this.#body?.fail(clientGone());
    this.#abort?.abort(clientGone());
  }

  /** Resolves when the body is over, or when so much more of it came than may that its end is not worth waiting for. */
  bodyEnded(): Promise<void> {
    return this.#body?.ended ?? Promise.resolve();
  }

  #receiveBody(): BodyBuffer {
    if (this.#body) return this.#body;
    const declared = Number(this.header('content-length') ?? Number.NaN);
    const body = new BodyBuffer(declared, this.#maxBodyBytes, {
      pause: () => this.#flow((res) => res.pause()),
      resume: () => this.#flow((res) => res.resume()),
    });
    this.#body = body;
    if (this.isAborted) body.fail(clientGone());
    else if (this.#hasBody) this.#res.onData((chunk, isLast) => body.push(chunk, isLast));
    else body.push(new ArrayBuffer(0), true);
    return body;
  }

  #flow(turn: (res: HttpResponse) => void): void {
    if (!this.isOver) turn(this.#res);
  }
}

const beyondAscii = /[^\0-\x7f]/;

function readHeaders(req: HttpRequest): readonly (readonly [string, string])[] {
  const headers: [string, string][] = [];
  req.forEach((name, value) => {
    // Bytes beyond ASCII: `forEach` reads them as UTF-8 and loses those that are not, `getHeader` as Latin-1, as Node
    // does (uWebSockets.js 20). Of several headers of one name it gives the first. At either end of a value such bytes
    // are lost to both: the parser takes them for blanks.
    headers.push([name, beyondAscii.test(value) ? req.getHeader(name) : value]);
  });
  return headers;
}
