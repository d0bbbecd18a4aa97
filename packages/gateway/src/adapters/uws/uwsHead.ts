import type { HttpRequest as NativeRequest } from 'uWebSockets.js';
import { RequestHead } from '../server/requestHead.ts';

/**
 * The head of the request that uWebSockets.js is passing to a handler. Reading all headers takes as long as reading ten
 * by name.
 *
 * The parser rejects names that are not tokens. At an empty name, it ends the head and hides the following headers
 * (uWebSockets.js 20; docs/edge.md).
 */
export class UwsHead extends RequestHead {
  #req: NativeRequest | undefined;

  read(req: NativeRequest): void {
    this.clear();
    this.#req = req;
    req.forEach(this.add);
    this.#req = undefined;
  }

  /**
   * Decodes a value as Latin-1, as Node does, by `getHeader`, which returns the first of several headers of one name.
   * `forEach` decodes non-ASCII bytes as UTF-8 and loses invalid ones. Both lose non-ASCII bytes at the start and end
   * of a value, since the parser treats them as blanks (uWebSockets.js 20).
   */
  protected override latin1(name: string, value: string): string {
    return this.#req?.getHeader(name) ?? value;
  }
}
