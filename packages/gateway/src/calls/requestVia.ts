import { isObject } from '../http/isObject.ts';
import type { HttpRequest } from '../http/request.ts';
import type { DeclaredClient, Via } from '../procedures/via.ts';
import type { Scheme } from './scheme.ts';

/** What is known of a request. */
interface ViaSource extends Pick<Via, 'protocol'> {
  readonly request: Pick<HttpRequest, 'header'>;
  readonly credential: string | undefined;
  readonly scheme: Pick<Scheme, 'oauthClient'> | undefined;
}

/** Reads the client when it is used, since most requests are served without: it takes 10 ns to create. */
export class RequestVia implements Via {
  readonly protocol: Via['protocol'];
  readonly tool: string | undefined;
  // Not the whole source, which has the input and the response: a record may be kept.
  readonly #request: ViaSource['request'];
  readonly #clientInfo: unknown;
  readonly #credential: string | undefined;
  readonly #scheme: ViaSource['scheme'];

  /**
   * @param clientInfo as received: the name and the version of the client
   * @param tool its name
   */
  constructor({ credential, protocol, request, scheme }: ViaSource, clientInfo?: unknown, tool?: string) {
    this.protocol = protocol;
    this.tool = tool;
    this.#request = request;
    this.#clientInfo = clientInfo;
    this.#credential = credential;
    this.#scheme = scheme;
  }

  get client(): DeclaredClient | undefined {
    const info = isObject(this.#clientInfo) ? this.#clientInfo : {};
    const declared = printable(info['name']);
    const name = declared ?? printable(this.#request.header('user-agent'));
    return name === undefined ? undefined : { name, version: declared && printable(info['version']) };
  }

  get oauthClient(): string | undefined {
    return this.#credential === undefined ? undefined : this.#scheme?.oauthClient?.(this.#credential);
  }

  toJSON(): Via {
    const { client, oauthClient, protocol, tool } = this;
    return { protocol, tool, client, oauthClient };
  }

  /** What `console.log` prints. */
  [Symbol.for('nodejs.util.inspect.custom')](): Via {
    return this.toJSON();
  }
}

/** Returns at most 256 characters, without those that a terminal or a viewer of logs does not show as such. */
const printable = (text: unknown): string | undefined =>
  typeof text === 'string'
    ? text
        .slice(0, 256)
        .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
        .trim() || undefined
    : undefined;
