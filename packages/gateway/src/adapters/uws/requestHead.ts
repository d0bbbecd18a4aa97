// Hot path: every request runs through it. What is unusual here is measured: testing/headCost.ts.
import type { HttpRequest as NativeRequest } from 'uWebSockets.js';

/** Other than tab and printable ASCII. */
const unusual = /[^\t -~]/;
// oxlint-disable-next-line no-control-regex -- these are the bytes that a value must not have
const control = /[\0-\x08\x0a-\x1f\x7f]/;
const closing = /(?:^|,)[\t ]*close[\t ]*(?:,|$)/i;

/**
 * The head of the request that uWebSockets.js is passing to a handler. One object for all requests, since one request is
 * read at a time: to keep the headers longer than the handler runs, copy them.
 *
 * All headers are read, once. `NativeRequest.getHeader` cannot tell an empty header from none and shows only the first of
 * several, and that is where requests are smuggled. Reading all costs what ten readings by name do.
 *
 * The parser rejects names that are not tokens. At an empty name it takes the head for ended, and hides what follows
 * (uWebSockets.js 20; docs/edge.md).
 */
export class RequestHead {
  /** The first `count` are this request's; the rest are of others. */
  readonly names: string[] = [];
  readonly values: string[] = [];
  count = 0;
  /** The length of the header lines, with their separators, in bytes. */
  bytes = 0;
  hosts = 0;
  host = '';
  lengths = 0;
  length = '';
  codings = 0;
  coding = '';
  /** An `Expect` that is not `100-continue`. */
  expectation = '';
  /** Whether the client asks to close the connection after this request (RFC 9112 §9.6). */
  isLast = false;
  hasControl = false;
  #req: NativeRequest | undefined;
  #hasUnusual = false;

  read(req: NativeRequest): void {
    if (this.#hasUnusual) this.values.length = 0;
    this.#hasUnusual = false;
    this.count = 0;
    this.bytes = 0;
    this.hosts = 0;
    this.lengths = 0;
    this.codings = 0;
    this.expectation = '';
    this.isLast = false;
    this.hasControl = false;
    this.#req = req;
    req.forEach(this.#add);
    this.#req = undefined;
  }

  readonly #add = (name: string, given: string): void => {
    const at = this.count;
    this.count = at + 1;
    // A value of the request before was checked with it, unless it had unusual ones: 0.15 µs of a request with five headers.
    if (this.names[at] !== name) this.names[at] = name;
    if (this.values[at] !== given) this.values[at] = unusual.test(given) ? this.#latin1(name, given) : given;
    // What is kept of it is kept by the arrays already: another new string in an old object costs a write barrier.
    const value = this.values[at] ?? '';
    this.bytes += name.length + given.length + 4;
    // By length first: comparing a string from uWS with each name costs more.
    switch (name.length) {
      case 4:
        if (name === 'host') {
          this.hosts += 1;
          this.host = value;
        }
        break;
      case 6:
        if (name === 'expect' && given.toLowerCase() !== '100-continue') this.expectation = given;
        break;
      case 10:
        if (name === 'connection' && given !== 'keep-alive' && closing.test(given)) this.isLast = true;
        break;
      case 14:
        if (name === 'content-length') {
          this.lengths += 1;
          this.length = value;
        }
        break;
      case 17:
        if (name === 'transfer-encoding') {
          this.codings += 1;
          this.coding = value;
        }
        break;
    }
  };

  /**
   * `forEach` decodes bytes beyond ASCII as UTF-8 and loses those that are not, `getHeader` as Latin-1, as Node does; of
   * several headers of one name it returns the first. At either end of a value such bytes are lost to both: the parser
   * takes them for blanks (uWebSockets.js 20).
   */
  #latin1(name: string, value: string): string {
    this.#hasUnusual = true;
    if (control.test(value)) this.hasControl = true;
    return this.#req?.getHeader(name) ?? value;
  }
}
