// Hot path: every request is one of these.
import type { HttpRequest as NativeRequest, HttpResponse as NativeResponse } from 'uWebSockets.js';
import type { PushChunk } from '../server/bodyBuffer.ts';
import type { RequestLimits } from '../server/requestHead.ts';
import { ServerRequest } from '../server/serverRequest.ts';
import { UwsHead } from './uwsHead.ts';

const letterP = 0x50;

const head = new UwsHead();

/**
 * A request of uWebSockets.js. `NativeRequest` may be read only until its handler returns, and `onAborted` and `onData`
 * must be attached by then: call `keep` in the handler, unless the response is written in it. Once `isAborted`, every
 * method of the native response throws.
 */
export class UwsRequest extends ServerRequest {
  readonly isLast: boolean;
  /** Whether uWS closes the connection after the response by itself: for `Connection: close` in five letters (20). */
  readonly isClosedByUws: boolean;
  readonly #res: NativeResponse;

  constructor(res: NativeResponse, req: NativeRequest, limits: RequestLimits) {
    head.read(req);
    const query: string | undefined = req.getQuery();
    // The type says string; without a `?` it is undefined (uWebSockets.js 20).
    super(req.getCaseSensitiveMethod(), req.getUrl(), query ?? '', head, limits);
    this.#res = res;
    this.isLast =
      this.rejection !== undefined ||
      head.isLast ||
      head.codings !== 0 ||
      // POST, PUT and PATCH have a length (RFC 9110 §8.6). One without it may have a Content-Length that the parser hides
      // behind a header with an empty name: what follows is then its body, not a request.
      (head.lengths === 0 && this.method.charCodeAt(0) === letterP);
    this.isClosedByUws = head.isLast && this.header('connection')?.length === 5;
  }

  controlBody(action: 'pause' | 'resume' | 'close'): void {
    if (!this.hasEnded) this.#res[action]();
  }

  protected readAddress(): string {
    return Buffer.from(this.#res.getRemoteAddressAsText()).toString();
  }

  /** uWS keeps only the last listener. Without it, a write after the client has disconnected ends the process (20). */
  protected watchConnection(): void {
    this.#res.onAborted(() => this.aborted());
  }

  /** uWS detaches the memory of a chunk when its handler returns. */
  protected receive(push: PushChunk): void {
    this.#res.onData((chunk, isLast) => push(new Uint8Array(chunk), isLast));
  }
}
