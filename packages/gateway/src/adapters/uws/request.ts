// Hot path: one object per request.
import type { HttpRequest as NativeRequest, HttpResponse as NativeResponse } from '@uwsjs/core';
import type { BodyBuffer } from '../serve/bodyBuffer.ts';
import { ServerRequest } from '../serve/request.ts';
import { RequestHead, type RequestLimits } from '../serve/requestHead.ts';

const letterP = 0x50;

/**
 * The head that uWebSockets.js is passing to a handler. All headers take as long as ten by name. The parser rejects
 * names that are not tokens. At an empty one it ends the head and hides the rest (uWebSockets.js 20; docs/adapters.md).
 */
class UwsHead extends RequestHead {
  #req: NativeRequest | undefined;

  read(req: NativeRequest): void {
    this.clear();
    this.#req = req;
    req.forEach(this.add);
    this.#req = undefined;
  }

  /**
   * Decodes a value as Latin-1, as Node does, by `getHeader`, which returns the first of a name. `forEach` decodes as
   * UTF-8 and loses invalid bytes. Both lose non-ASCII bytes at the ends, as blanks (uWebSockets.js 20).
   */
  protected override latin1(name: string, value: string): string {
    return this.#req?.getHeader(name) ?? value;
  }
}

const head = new UwsHead();

/**
 * A request of uWebSockets.js. `NativeRequest` is readable, and listeners can be attached, until its handler returns:
 * call `keep` there, unless the response is written there. Once `isAborted`, every method of the response throws.
 */
export class UwsRequest extends ServerRequest {
  readonly isLast: boolean;
  /**
   * Whether uWS itself closes the connection after the response: uWebSockets.js 20 does so for a `Connection` value of
   * five letters, `close` or not. Its `end` then leaves out `Connection: close`.
   */
  readonly isClosedByUws: boolean;
  readonly res: NativeResponse;

  constructor(res: NativeResponse, req: NativeRequest, limits: RequestLimits) {
    head.read(req);
    const query: string | undefined = req.getQuery();
    // Typed as string, but undefined without a `?` (uWebSockets.js 20).
    super(req.getCaseSensitiveMethod(), req.getUrl(), query ?? '', head, limits);
    this.res = res;
    this.isClosedByUws = head.hasConnectionOption && this.header('connection')?.length === 5;
    this.isLast =
      this.rejection !== undefined ||
      head.isLast ||
      this.isClosedByUws ||
      Number.isNaN(this.bodyLength) ||
      // POST, PUT and PATCH have a length (RFC 9110 §8.6). If it is missing, there may be a Content-Length that the
      // parser hides after a header with an empty name: the next bytes are then the body, not a request.
      (head.bodyLength === undefined && this.method.charCodeAt(0) === letterP);
  }

  controlBody(action: 'pause' | 'resume' | 'close'): void {
    if (!this.hasEnded) this.res[action]();
  }

  protected readAddress(): string {
    return Buffer.from(this.res.getRemoteAddressAsText()).toString();
  }

  /** uWS keeps the last listener only. Without one, a write after a disconnect ends the process (uWebSockets.js 20). */
  protected watchConnection(): void {
    this.res.onAborted(() => this.onDisconnect());
  }

  /** uWS detaches the memory of a chunk when the handler returns, so the chunk is copied. */
  protected receive(body: BodyBuffer): void {
    this.res.onData((chunk, isLast) => body.push(new Uint8Array(chunk), isLast));
  }
}
