import type { HttpRequest } from 'trpc-gateway';
import type { ClientRequest } from '../client/transport.ts';

/** A request that a process has received whole. */
export class SimulatedRequest implements HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly #headers: ReadonlyMap<string, string>;
  readonly #body: Buffer<ArrayBuffer>;
  readonly #controller = new AbortController();

  constructor({ body = '', headers, method, target }: ClientRequest) {
    this.method = method;
    [this.path = '', this.query = ''] = target.split('?');
    const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    this.#headers = new Map(Object.entries({ host: 'lab', ...headers, ...length }));
    this.#body = Buffer.from(body);
  }

  header(name: string): string | undefined {
    return this.#headers.get(name) || undefined;
  }

  headers(): Iterable<[name: string, value: string]> {
    return [...this.#headers];
  }

  hasHeader(name: string): boolean {
    return this.#headers.has(name);
  }

  remoteAddress(): string {
    return '127.0.0.1';
  }

  // No client sends a body that is too large.
  async body(): Promise<Buffer<ArrayBuffer>> {
    return this.#body;
  }

  bodyNow(): Buffer<ArrayBuffer> {
    return this.#body;
  }

  async *bodyChunks(): AsyncGenerator<Buffer<ArrayBuffer>> {
    yield this.#body;
  }

  get isAborted(): boolean {
    return this.#controller.signal.aborted;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The client has disconnected. */
  abort(): void {
    this.#controller.abort();
  }
}
