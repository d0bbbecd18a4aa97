// Hot path: one object per request.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Bytes } from '../../http/request.ts';
import { noBytes, type BodyBuffer } from '../serve/bodyBuffer.ts';
import { badRequest, versionRejection } from '../serve/rejections.ts';
import { ServerRequest } from '../serve/request.ts';
import { RequestHead, type RequestLimits } from '../serve/requestHead.ts';

/** The scheme and the authority of a target in absolute form (RFC 9112 §3.2.2). */
const absoluteForm = /^https?:\/\/([^/?#]*)/i;

/** Rejection of a target, also of CONNECT, which names a host: this server is not a proxy. */
export const targetRejection = badRequest(
  'The request target must be a path, a URL with the host of the Host header, or * for OPTIONS (RFC 9112 §3.2).',
);

const head = new RequestHead();

/** Cache of header names by position, as received and in lower case: nearly all requests have the same names. */
const rawNames: string[] = [];
const lowerNames: string[] = [];

function readHead(message: IncomingMessage, url: string): RequestHead {
  const { rawHeaders, httpVersionMajor, httpVersionMinor } = message;
  head.clear();
  head.isHostOptional = httpVersionMajor === 1 && httpVersionMinor === 0;
  for (let at = 0, index = 0; at < rawHeaders.length; at += 2, index += 1) {
    const name = rawHeaders[at] ?? '';
    if (rawNames[index] !== name) {
      rawNames[index] = name;
      lowerNames[index] = name.toLowerCase();
    }
    head.add(lowerNames[index] ?? '', rawHeaders[at + 1] ?? '');
  }
  // Node's parser accepts a request line without a version as HTTP/0.9, and HTTP/2.0 as if it were 1.1 (Node 22).
  if (httpVersionMajor !== 1) head.ownRejection = versionRejection;
  else if (!isPath(url) && !isTarget(message.method, url)) head.ownRejection = targetRejection;
  return head;
}

/** A request of node:http. Node's parser has validated its framing. */
export abstract class NodeRequest extends ServerRequest {
  readonly isLast: boolean;
  readonly res: ServerResponse;
  protected readonly message: IncomingMessage;

  constructor(message: IncomingMessage, res: ServerResponse, limits: RequestLimits) {
    const { url = '' } = message;
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
      // An HTTP/1.0 client sends another request only if the response says so.
      head.isHostOptional ||
      // After an upgrade request, Node's parser drops the rest of the packet, so that the next bytes may be the end of
      // another request (Node 22 to 26). `attachWebSockets` takes over upgrade requests without a body.
      head.isUpgrade;
    this.closesAtOnce =
      head.isLast && this.rejection === undefined && !head.isHostOptional && !head.isUpgrade;
    // An HTTP/1.0 client does not wait, even with `Expect`.
    this.awaitsContinue = head.awaitsContinue && !head.isHostOptional;
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

  /** Node assigns the socket when the response before is sent. An injected request may have none. */
  override get isBehind(): boolean {
    return this.res.socket === null && this.connection instanceof Socket;
  }

  override body(maxBytes: number): Promise<Bytes> {
    this.#continue(maxBytes);
    return super.body(maxBytes);
  }

  override bodyChunks(maxBytes: number): AsyncIterable<Bytes> {
    this.#continue(maxBytes);
    return super.bodyChunks(maxBytes);
  }

  controlBody(action: 'pause' | 'resume' | 'close'): void {
    if (action !== 'close') return void this.message[action]();
    // Otherwise the stream would still pass on its buffered chunks.
    this.message.destroy();
    this.message.socket.destroy();
  }

  /** Chunks may be retained: Node's parser copies them. */
  protected receive(body: BodyBuffer): void {
    const { message } = this;
    message.on('data', (chunk: Uint8Array) => body.push(chunk, false, true));
    message.once('end', () => body.push(noBytes, true));
    // The end of the connection is reported by the response, too.
    message.on('error', () => {});
  }

  protected readAddress(): string {
    return this.message.socket.remoteAddress ?? '';
  }

  /** Lets the client send the body, unless it is known to be too large (RFC 9110 §10.1.1). */
  #continue(maxBytes: number): void {
    const { res } = this;
    if (!this.awaitsContinue || this.bodyLength > maxBytes || this.hasEnded || res.headersSent) return;
    this.awaitsContinue = false;
    res.writeContinue();
  }
}

const isPath = (url: string): boolean => url.charCodeAt(0) === 0x2f;

/** Whether a target that is not a path is valid. */
function isTarget(method: string | undefined, url: string): boolean {
  if (url === '*' && method === 'OPTIONS') return true;
  const authority = absoluteForm.exec(url)?.[1]?.toLowerCase();
  return authority !== undefined && (head.host === '' || authority === head.host.toLowerCase());
}

/** Converts a target in absolute form to origin form. Absolute form is meant for proxies, but servers must accept it. */
function originForm(url: string): string {
  const target = url.replace(absoluteForm, '');
  return target.startsWith('?') || target === '' ? `/${target}` : target;
}
