import type { HttpRequest as NativeRequest } from 'uWebSockets.js';
import { RequestHead } from '../server/requestHead.ts';

/**
 * The head of the request that uWebSockets.js is passing to a handler. Reading all headers costs what ten readings by
 * name do.
 *
 * The parser rejects names that are not tokens. At an empty name it takes the head for ended, and hides what follows
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
   * `forEach` decodes bytes beyond ASCII as UTF-8 and loses those that are not, `getHeader` as Latin-1, as Node does; of
   * several headers of one name it returns the first. At either end of a value such bytes are lost to both: the parser
   * takes them for blanks (uWebSockets.js 20).
   */
  protected override latin1(name: string, value: string): string {
    return this.#req?.getHeader(name) ?? value;
  }
}
