// Hot path: called for every response.
import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import {
  type Header,
  hasNoContent,
  type HttpResponse,
  isBodyStream,
  isWritableHeader,
} from '../../http/response.ts';
import { turn } from '../../http/turn.ts';
import { controlCharacter, nonPrintable } from '../serve/requestHead.ts';
import { bufferedBody, type BodySink, byteLength, Responder, unlessAborted } from '../serve/responder.ts';
import type { NodeRequest } from './request.ts';
import { WaitingRequests } from './waitingRequests.ts';

/** Maximum time for a client that is still sending to read its response, before the connection is closed. */
const lingerMs = 10_000;

/** Size of the slices in which a whole body is passed to Node. */
const sliceBytes = 65_536;

/**
 * Number of requests that wait for the response before them, from which on a connection may have only its share of them,
 * and at least one. Node parses all requests of a read, up to 2,400 in 64 KiB, and each takes some 8 kB.
 */
const maxBehind = 500;

/**
 * Number of such requests of one connection. Beyond it the connection closes, and the parser stops: with 500, twenty
 * clients that pipelined without end and opened another connection at once took 11 ms for each, so that others waited
 * 0.2 s to be accepted. Clients that pipeline send some 16.
 */
const maxBehindOfOne = 64;

/** Maximum number of other requests that wait: beyond it, requests are handled at once. They take some 20 MB. */
const maxLate = 2000;

/**
 * Number of bytes that wait to be read, in all, from which on a connection that has some of them may not pipeline. It is
 * far below the default of `maxUnsentSize`: 200 clients that pipelined 20 requests for 900 kB each and read nothing took
 * 640 MB. A connection that pipelines then closes, too, when a response does not fit into its socket at once.
 */
const maxPipelinedUnsentBytes = 16 * 1024 * 1024;

/** Names and values of headers in turn, as `writeHead` takes them. */
export type Fields = string[];

/** Fields of shared headers, which are validated and encoded once. */
const sharedFieldsCache = new WeakMap<readonly Header[], Fields>();

/** The responder of node:http. It uses only what Node documents. */
export class NodeResponder extends Responder<NodeRequest, Fields> {
  protected readonly headOf = fieldsOf;
  readonly #waiting = new WaitingRequests();

  /**
   * A pipelined request waits until the response before it is sent, so a client that reads nothing gets no more than
   * one. Others wait for a later turn, up to `maxLate`: under overload they would take 50 to 120 MB.
   */
  protected override onLate({ isBehind, connection }: NodeRequest): 'handle' | 'delay' | 'close' {
    const waiting = this.#waiting;
    if (!isBehind) return waiting.late < maxLate ? 'delay' : 'handle';
    const share = waiting.behind < maxBehind ? Infinity : Math.max(1, maxBehind / waiting.connections);
    const isTooMany = waiting.of(connection) >= Math.min(maxBehindOfOne, share);
    const isUnread = connection.writableLength > 0 && this.unsentBytes > maxPipelinedUnsentBytes;
    return isTooMany || isUnread ? 'close' : 'delay';
  }

  protected override delay(request: NodeRequest, handle: () => void): void {
    const run = this.#waiting.add(request, handle);
    if (!request.isBehind) return turn.laterRequest(run);
    const runInTurn = () => (turn.spend() ? turn.laterRequest(run) : run());
    // Not within the event: Node would end a response twice that is written there.
    request.res.once('socket', () => process.nextTick(runInTurn));
  }

  protected override unsentLimit({ connection }: NodeRequest): number {
    const isFollowed = this.#waiting.of(connection) > 0;
    return isFollowed ? Math.min(this.maxUnsentSize, maxPipelinedUnsentBytes) : this.maxUnsentSize;
  }

  protected writeSmall(
    { isLast, res, method }: NodeRequest,
    fields: Fields,
    { status, body }: HttpResponse,
  ): boolean {
    if (isLast || this.isDraining) fields.push('Connection', 'close');
    if (hasNoContent(status)) this.writeFields(res, status, fields).end();
    else {
      const whole = bufferedBody(body);
      const bytes = byteLength(whole);
      fields.push('Content-Length', String(bytes));
      this.writeFields(res, status, fields);
      if (bytes === 0 || method === 'HEAD') res.end();
      // Node encodes the head as the text that follows: in UTF-8, it would encode header values a second time.
      else {
        if (bytes === whole.length) res.write(whole, 'latin1');
        else res.write(Buffer.from(whole));
        // Writes head and body with one call. `end` would add an empty chunk, for which Node takes 3 µs more (`writev`).
        res.socket?.uncork();
        res.end();
      }
    }
    // `finish` comes in a later turn.
    return res.socket !== null && res.socket.writableLength === 0;
  }

  protected async sendRest(request: NodeRequest): Promise<void> {
    await unlessAborted(request)(once(request.res, 'finish'));
  }

  protected async sendWhole(request: NodeRequest, fields: Fields, response: HttpResponse): Promise<void> {
    const { res } = request;
    const isHead = request.method === 'HEAD';
    const body = bufferedBody(response.body);
    if (!hasNoContent(response.status) && !isBodyStream(response.body)) {
      fields.push('Content-Length', String(byteLength(body)));
    }
    // Node would announce a chunked body, since there is no length.
    if (isHead && isBodyStream(response.body)) res.removeHeader('transfer-encoding');
    this.#writeHead(request, fields, response.status);
    await this.whenSent(request, body, async () => {
      await sendBody(request, isHead ? '' : body);
      if (!request.exceedsDiscardLimit || request.awaitsContinue) return end(request);
      // Not ended: Node would close the connection, and a client that still sends would get a reset, not the response.
      res.flushHeaders();
      setTimeout(() => request.controlBody('close'), lingerMs).unref();
    });
  }

  protected openStream(request: NodeRequest, fields: Fields, status: number): BodySink {
    const { res } = request;
    this.#writeHead(request, fields, status);
    res.flushHeaders();
    return {
      write: (chunk) => (res.write(chunk) ? undefined : untilDrained(res)),
      end: () => end(request),
    };
  }

  #writeHead(request: NodeRequest, fields: Fields, status: number): void {
    const { res } = request;
    // Errors of the connection are handled by its event `close`.
    res.on('error', () => {});
    // Node closes the connection after a response with this header.
    if (request.isLast || request.awaitsContinue || request.exceedsDiscardLimit || this.isDraining) {
      fields.push('Connection', 'close');
    }
    this.writeFields(res, status, fields);
  }

  protected writeFields(res: ServerResponse, status: number, fields: Fields): ServerResponse {
    return res.writeHead(status, fields);
  }
}

/** Returns the headers of a response. Returns `undefined` for a header that must not be written. */
function fieldsOf({ headers, sharedHeaders }: HttpResponse): Fields | undefined {
  if (sharedHeaders === undefined) return encode(headers, []);
  let shared = sharedFieldsCache.get(sharedHeaders);
  if (shared === undefined) {
    shared = encode(sharedHeaders, []);
    if (shared === undefined) return undefined;
    sharedFieldsCache.set(sharedHeaders, shared);
  }
  return encode(headers, [...shared]);
}

function encode(headers: readonly Header[], fields: Fields): Fields | undefined {
  for (const header of headers) {
    if (!isWritableHeader(header)) return undefined;
    const name = header[0];
    const value = header[1];
    if (!nonPrintable.test(value)) fields.push(name, value);
    // Node rejects such a value.
    else if (controlCharacter.test(value)) return undefined;
    // As UTF-8, as the other adapters do: Node writes each character as one byte.
    else fields.push(name, Buffer.from(value).toString('latin1'));
  }
  return fields;
}

/** Sends a whole body with backpressure. Resolves when it is sent or the client has disconnected. */
async function sendBody(request: NodeRequest, body: string | Uint8Array): Promise<void> {
  const { res } = request;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const wait = unlessAborted(request);
  for (let from = 0; from < bytes.byteLength && !request.isAborted; from += sliceBytes) {
    if (!res.write(bytes.subarray(from, from + sliceBytes))) await wait(untilDrained(res));
  }
}

/** Ends a response. Resolves when it is sent or the client has disconnected. */
async function end(request: NodeRequest): Promise<void> {
  if (request.isAborted) return;
  await unlessAborted(request)(new Promise<void>((resolve) => request.res.end(resolve)));
}

const untilDrained = (res: ServerResponse) => new Promise<void>((resolve) => res.once('drain', resolve));
