import { isObject } from '../http/isObject.ts';
import type { HttpRequest } from '../http/request.ts';
import type { DeclaredClient, Via } from '../procedures/via.ts';
import type { Scheme } from './scheme.ts';

/** A message of MCP, as far as it says who sends it. */
export interface SentMessage {
  /** As received. */
  readonly clientInfo: unknown;
  /** The tool that it calls. */
  readonly tool?: { readonly name: string };
}

/** What is known of a request. */
interface ViaSource extends Pick<Via, 'protocol'> {
  readonly request: Pick<HttpRequest, 'header'>;
  /** `undefined` over other protocols than MCP, and before the message was read. */
  readonly message: SentMessage | undefined;
  /** The verified credential. */
  readonly credential: string | undefined;
  readonly scheme: Pick<Scheme, 'oauthClient'> | undefined;
}

/** Reads each member when it is used, since most requests are served without: it takes 2 ns to create. */
export class RequestVia implements Via {
  readonly #source: ViaSource;

  constructor(source: ViaSource) {
    this.#source = source;
  }

  get protocol(): Via['protocol'] {
    return this.#source.protocol;
  }

  get tool(): string | undefined {
    return this.#source.message?.tool?.name;
  }

  get client(): DeclaredClient | undefined {
    const { message, request } = this.#source;
    const { name, version } = isObject(message?.clientInfo) ? message.clientInfo : {};
    const named = printable(name);
    if (named !== undefined) return { name: named, version: printable(version) };
    const userAgent = printable(request.header('user-agent'));
    return userAgent === undefined ? undefined : { name: userAgent, version: undefined };
  }

  get oauthClient(): string | undefined {
    const { credential, scheme } = this.#source;
    return credential === undefined ? undefined : scheme?.oauthClient?.(credential);
  }

  toJSON(): Via {
    const { client, oauthClient, protocol, tool } = this;
    return { protocol, tool, client, oauthClient };
  }

  /** What `console.log` of Node, Bun and Deno prints. */
  [Symbol.for('nodejs.util.inspect.custom')](): Via {
    return this.toJSON();
  }
}

/** The longest declared text, in characters: that of a `User-Agent` of browsers is half as long. */
const maxLength = 256;

/** Characters that a terminal or a viewer of logs does not show as such: control, format and unassigned ones, and line separators. */
const unprintable = /[\p{C}\p{Zl}\p{Zp}]/gu;

const printable = (text: unknown): string | undefined =>
  typeof text === 'string'
    ? text.slice(0, maxLength).replace(unprintable, '').trim() || undefined
    : undefined;
