import type { ApiError } from '@petstore/gateway/meta';
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { connect as connectSocket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type ResponseProblems, responseProblems, type ReceivedResponse } from './responseProblems.ts';
import { type Fetch, globalFetch } from './fetch.ts';
import './matchers.ts';
import type { OpenApiDocument } from './openApi.ts';
import { needs } from './servers.ts';

export interface SendOptions {
  /** Further headers, in this order; one name may come several times. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** The whole `Authorization` value. Default: the good key as a bearer token; `null`: no header. */
  readonly authorization?: string | null;
  /** Default: `application/json` where there is a body; `null`: no header. */
  readonly contentType?: string | null;
  /** As it is; anything but text and bytes as JSON. */
  readonly body?: unknown;
  /** Sends the body in chunks, without `Content-Length`. */
  readonly chunked?: boolean;
}

export interface TestResponse extends ReceivedResponse {
  /** A header's value; where it was sent several times, all of them with commas (RFC 9110 §5.3). */
  header(name: string): string | undefined;
  /** Every header as sent, its name in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** The body as JSON. */
  json(): unknown;
  /** The body of an error: its shape was checked when the answer came. */
  error(): ApiError;
}

/**
 * Speaks HTTP to one server and hides nothing: targets, headers and bodies go out as they are given, answers come back
 * as they were sent. Each answer is held against the laws that every answer obeys (`responseProblems.ts`); one that breaks
 * a law is thrown as an error, so that no case can forget to look.
 */
export interface Client {
  readonly origin: string;
  readonly apiKey: string;
  /** What the server says of itself at `/openapi.json`. */
  readonly document: OpenApiDocument;
  send(method: string, target: string, sending?: SendOptions): Promise<TestResponse>;
  get(target: string, sending?: SendOptions): Promise<TestResponse>;
  /** Sends text on a connection of its own and gives all that comes until the server closes it. */
  sendRaw(text: string): Promise<string>;
}

/** Where a server listens, and a key that it takes. */
interface Served {
  readonly origin: string;
  readonly apiKey: string;
  /** How a server in this process is reached, which has no port. */
  readonly fetch?: Fetch;
}

export async function connect({ origin, apiKey, fetch = globalFetch }: Served): Promise<Client> {
  // Idle connections are given up before any server would: no request meets one that is just being closed.
  const agent = new Agent({ keepAlive: true, timeout: 3000 });
  // The global `fetch` changes what is sent, and hides what came.
  const exchanged =
    fetch === globalFetch
      ? sendUnchecked.bind(undefined, agent, origin)
      : sendInProcess.bind(undefined, { origin, fetch });
  const found = await exchanged('GET', '/openapi.json', [], undefined, false);
  if (found.status !== 200) throw new Error(`GET /openapi.json answered ${found.status}.`);
  const document: OpenApiDocument = JSON.parse(found.body.toString());
  const faultsOf: ResponseProblems = responseProblems(document);

  async function send(method: string, target: string, sending: SendOptions = {}): Promise<TestResponse> {
    const { authorization = `Bearer ${apiKey}`, body, chunked = false } = sending;
    const contentType =
      sending.contentType === undefined && body !== undefined ? 'application/json' : sending.contentType;
    const headers: (readonly [string, string])[] = [];
    if (authorization !== null) headers.push(['Authorization', authorization]);
    if (typeof contentType === 'string') headers.push(['Content-Type', contentType]);
    headers.push(...(sending.headers ?? []));
    const response = await exchanged(method, target, headers, bytesOf(body), chunked);
    const faults = faultsOf(method, target, response);
    if (faults.length > 0) {
      const text = response.body.toString().slice(0, 500);
      throw new Error(`${method} ${target} answered ${response.status}:\n- ${faults.join('\n- ')}\n${text}`);
    }
    return response;
  }

  return {
    origin,
    apiKey,
    document,
    send,
    get: (target, sending) => send('GET', target, sending),
    async sendRaw(text) {
      const { hostname, port } = new URL(origin);
      const socket = connectSocket(Number(port), hostname);
      await once(socket, 'connect');
      socket.write(text);
      return (await buffer(socket)).toString();
    },
  };
}

function bytesOf(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  if (body instanceof Uint8Array) return Buffer.from(body);
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Sends one request as it is given, and gives what came back, unchecked. */
export async function sendUnchecked(
  agent: Agent,
  origin: string,
  method: string,
  target: string,
  headers: readonly (readonly [string, string])[],
  body: Buffer | undefined,
  chunked: boolean,
): Promise<TestResponse> {
  const { hostname, port, host } = new URL(origin);
  const framing = chunked ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', String(body?.length ?? 0)];
  const outgoing = httpRequest({
    agent,
    method,
    path: target,
    host: hostname,
    port,
    // As an array: names, order and repetitions stay as given.
    headers: ['Host', host, ...headers.flat(), ...(body === undefined ? [] : framing)],
  });
  const response = once(outgoing, 'response');
  // A server may answer and close before it has read a body that it refuses; the answer counts, if one came.
  outgoing.on('error', () => {});
  if (chunked && body)
    for (let at = 0; at < body.length; at += 1024) outgoing.write(body.subarray(at, at + 1024));
  outgoing.end(chunked ? undefined : body);
  const [incoming] = await response;
  const received = await buffer(incoming);
  const raw: string[] = incoming.rawHeaders;
  const pairs = Array.from({ length: raw.length / 2 }, (_, at) => {
    return [String(raw[2 * at]).toLowerCase(), String(raw[2 * at + 1])] as const;
  });
  return responseOf(incoming.statusCode, pairs, received);
}

/** Sends one request to a server with a port as it is given, and to one in this process as a `Request`. */
export const sendOnce = (
  to: { readonly origin: string; readonly fetch: Fetch },
  method: string,
  target: string,
  headers: readonly (readonly [string, string])[],
  body?: Buffer,
): Promise<TestResponse> =>
  to.fetch === globalFetch
    ? sendUnchecked(new Agent(), to.origin, method, target, headers, body, false)
    : sendInProcess(to, method, target, headers, body, false);

/** As `exchange`, with a server in this process. */
async function sendInProcess(
  { origin, fetch }: { readonly origin: string; readonly fetch: Fetch },
  method: string,
  target: string,
  headers: readonly (readonly [string, string])[],
  body: Buffer | undefined,
  chunked: boolean,
): Promise<TestResponse> {
  // A Request has none of these methods (Fetch Standard §2.2.1).
  if (/^(CONNECT|TRACE|TRACK)$/i.test(method)) needs('a port');
  const sent = chunked && body ? ReadableStream.from([new Uint8Array(body)]) : body && new Uint8Array(body);
  const response = await fetch(`${origin}${target}`, {
    method,
    headers: headers.map(([name, value]) => [name, value]),
    body: sent,
    duplex: 'half',
    redirect: 'manual',
  });
  const received = Buffer.from(await response.arrayBuffer());
  return responseOf(response.status, [...response.headers], received);
}

const responseOf = (status: number, headers: TestResponse['headers'], body: Buffer): TestResponse => ({
  status,
  headers,
  header(name) {
    const values = headers.filter(([key]) => key === name.toLowerCase()).map(([, value]) => value);
    return values.length > 0 ? values.join(', ') : undefined;
  },
  body,
  json: () => JSON.parse(body.toString()),
  error: () => JSON.parse(body.toString()),
});
