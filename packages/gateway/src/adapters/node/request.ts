// Hot path: every request is one of these.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpRejection } from '../../http/service.ts';
import type { Bytes, PushChunk } from '../server/bodyBuffer.ts';
import { RequestHead, type RequestLimits } from '../server/requestHead.ts';
import { ServerRequest } from '../server/serverRequest.ts';

/** The scheme and the authority of a target in absolute form (RFC 9112 §3.2.2). */
const absolute = /^https?:\/\/([^/?#]*)/i;

const rejections = {
  version: {
    status: 505,
    code: 'HTTP_VERSION_NOT_SUPPORTED',
    message: 'The request is not one of HTTP/1.1 (RFC 9112 §2.3).',
  },
  form: {
    status: 400,
    code: 'BAD_REQUEST',
    message: 'The target must be a path; only OPTIONS may ask about * (RFC 9112 §3.2).',
  },
  authority: {
    status: 400,
    code: 'BAD_REQUEST',
    message: 'The target and the Host header name different hosts (RFC 9112 §3.2.2).',
  },
} satisfies Readonly<Record<string, HttpRejection>>;

const head = new RequestHead();
const empty = new Uint8Array(0);

/** The names of earlier headers by their place, as received and in lower case: nearly all requests have the same. */
const rawNames: string[] = [];
const lowerNames: string[] = [];

function readHead(message: IncomingMessage, url: string): RequestHead {
  const { rawHeaders, httpVersionMajor, httpVersionMinor } = message;
  head.clear();
  head.mayLackHost = httpVersionMajor === 1 && httpVersionMinor === 0;
  for (let at = 0, index = 0; at < rawHeaders.length; at += 2, index += 1) {
    const name = rawHeaders[at] ?? '';
    if (rawNames[index] !== name) {
      rawNames[index] = name;
      lowerNames[index] = name.toLowerCase();
    }
    head.add(lowerNames[index] ?? '', rawHeaders[at + 1] ?? '');
  }
  // Node's parser takes a line without a version for HTTP/0.9, and HTTP/2.0 as if it were 1.1 (Node 22).
  if (httpVersionMajor !== 1) head.fromAdapter = rejections.version;
  else if (!isPath(url)) head.fromAdapter = targetRejection(message.method, url);
  return head;
}

/** A request of node:http, whose parser has accepted its framing. */
export abstract class NodeRequest extends ServerRequest {
  readonly isLast: boolean;
  readonly res: ServerResponse;
  /** Whether the client waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1). */
  isWaiting: boolean;
  protected readonly message: IncomingMessage;

  /** @param url the target, of which a host may have removed its prefix */
  constructor(message: IncomingMessage, res: ServerResponse, url: string, limits: RequestLimits) {
    const target = isPath(url) ? url : originForm(url);
    const end = target.indexOf('?');
    super(
      message.method ?? '',
      end === -1 ? target : target.slice(0, end),
      end === -1 ? '' : target.slice(end + 1),
      readHead(message, url),
      limits,
    );
    this.message = message;
    this.res = res;
    this.isLast =
      this.rejection !== undefined ||
      head.isLast ||
      // A client of HTTP/1.0 would have to be told that it may send another one.
      head.mayLackHost ||
      // Node's parser drops what came behind it in one packet, and what comes next may be the end of another request (Node 22
      // to 26). `attachWebSockets` takes those without a body from it.
      head.upgrades;
    // A client of HTTP/1.0 does not wait, whatever it says.
    this.isWaiting = head.expects && !head.mayLackHost;
  }

  override get scheme(): 'http' | 'https' {
    return 'encrypted' in this.message.socket ? 'https' : 'http';
  }

  override get httpVersion(): string {
    return this.message.httpVersion;
  }

  get connection(): Socket {
    return this.message.socket;
  }

  override body(maxBytes: number): Promise<Bytes> {
    this.#continue();
    return super.body(maxBytes);
  }

  override bodyChunks(maxBytes: number): AsyncIterable<Bytes> {
    this.#continue();
    return super.bodyChunks(maxBytes);
  }

  controlBody(action: 'pause' | 'resume' | 'close'): void {
    if (action === 'close') this.message.socket.destroy();
    else this.message[action]();
  }

  /** Node's parser copies what it passes on: the chunks may be kept. */
  protected receive(push: PushChunk): void {
    const { message } = this;
    message.on('data', (chunk: Uint8Array) => push(chunk, false, true));
    message.once('end', () => push(empty, true));
    // The end of the connection is that of the response, too.
    message.on('error', () => {});
  }

  protected readAddress(): string {
    return this.message.socket.remoteAddress ?? '';
  }

  #continue(): void {
    if (!this.isWaiting) return;
    this.isWaiting = false;
    if (!this.hasEnded && !this.res.headersSent) this.res.writeContinue();
  }
}

const isPath = (url: string): boolean => url.charCodeAt(0) === 0x2f;

/** Why a target is rejected that is not a path. */
function targetRejection(method: string | undefined, url: string): HttpRejection | undefined {
  if (url === '*' && method === 'OPTIONS') return undefined;
  const authority = absolute.exec(url)?.[1];
  if (authority === undefined) return rejections.form;
  const isOfHost = head.hosts === 0 || authority.toLowerCase() === head.host.toLowerCase();
  return isOfHost ? undefined : rejections.authority;
}

/** The target of a request to a server, from one in absolute form, which is meant for proxies but must be accepted. */
function originForm(url: string): string {
  const rest = url.replace(absolute, '');
  return rest.startsWith('?') || rest === '' ? `/${rest}` : rest;
}
