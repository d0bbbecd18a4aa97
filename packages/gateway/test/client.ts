import type { ApiError } from 'trpc-gateway/procedures';
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type ResponseProblems, responseProblems, type ReceivedResponse } from './wire/responseProblems.ts';
import { type Fetch, globalFetch } from './listen.ts';
import './matchers.ts';
import type { OpenApiDocument } from './openApi.ts';
import { needs } from './servers.ts';

export interface SendOptions {
  /** Further headers, in this order. A name may repeat. */
  readonly headers?: readonly (readonly [name: string, value: string])[];
  /** The value of `Authorization`. Default: the valid key as a bearer token. `null`: no header. */
  readonly authorization?: string | null;
  /** Default: `application/json` if there is a body. `null`: no header. */
  readonly contentType?: string | null;
  /** Strings and bytes are sent unchanged, other values as JSON. */
  readonly body?: unknown;
  /** Sends the body in chunks, without `Content-Length`. */
  readonly chunked?: boolean;
}

export interface TestResponse extends ReceivedResponse {
  /** The value of a header. Repeated headers are joined by commas (RFC 9110 §5.3). */
  header(name: string): string | undefined;
  /** All headers in their order, with names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  json(): unknown;
  /** The body of an error, whose shape was checked on arrival. */
  error(): ApiError;
}

/** Sends and returns everything unchanged, and throws for each problem that `responseProblems.ts` finds. */
export interface Client {
  readonly origin: string;
  readonly apiKey: string;
  /** The document that the server serves at `/openapi.json`. */
  readonly document: OpenApiDocument;
  send(method: string, target: string, sending?: SendOptions): Promise<TestResponse>;
  get(target: string, sending?: SendOptions): Promise<TestResponse>;
}

/** The address of a server, and a valid key. */
interface ServerAddress {
  readonly origin: string;
  readonly apiKey: string;
  /** For a server in this process, without a port. */
  readonly fetch?: Fetch;
}

export async function connect({ origin, apiKey, fetch = globalFetch }: ServerAddress): Promise<Client> {
  // Shorter than the idle timeout of all servers, so that no request is sent on a connection that is being closed.
  const agent = new Agent({ keepAlive: true, timeout: 3000 });
  const sendRequest = (sent: SentRequest) => sendUnchecked({ origin, fetch }, sent, agent);
  const documentResponse = await sendRequest({ method: 'GET', target: '/openapi.json', headers: [] });
  if (documentResponse.status !== 200) {
    throw new Error(`GET /openapi.json answered ${documentResponse.status}.`);
  }
  const document: OpenApiDocument = JSON.parse(documentResponse.body.toString());
  const problemsOf: ResponseProblems = responseProblems(document);

  async function send(method: string, target: string, sending: SendOptions = {}): Promise<TestResponse> {
    const { authorization = `Bearer ${apiKey}`, body, chunked = false } = sending;
    const contentType =
      sending.contentType === undefined && body !== undefined ? 'application/json' : sending.contentType;
    const headers: (readonly [string, string])[] = [];
    if (authorization !== null) headers.push(['Authorization', authorization]);
    if (typeof contentType === 'string') headers.push(['Content-Type', contentType]);
    headers.push(...(sending.headers ?? []));
    const response = await sendRequest({ method, target, headers, body: bytesOf(body), chunked });
    const problems = problemsOf(method, target, response);
    if (problems.length > 0) {
      const text = response.body.toString().slice(0, 500);
      throw new Error(
        `${method} ${target} answered ${response.status}:\n- ${problems.join('\n- ')}\n${text}`,
      );
    }
    return response;
  }

  return {
    origin,
    apiKey,
    document,
    send,
    get: (target, sending) => send('GET', target, sending),
  };
}

function bytesOf(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  if (body instanceof Uint8Array) return Buffer.from(body);
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

interface SentRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: Buffer | undefined;
  readonly chunked?: boolean;
}

type Destination = Required<Pick<ServerAddress, 'origin' | 'fetch'>>;

/** Sends a request, and returns the response without checking it. The global `fetch` would change the headers of both. */
const sendUnchecked = (to: Destination, sent: SentRequest, agent = new Agent()): Promise<TestResponse> =>
  to.fetch === globalFetch ? sendOverPort(to, sent, agent) : sendInProcess(to, sent);

async function sendOverPort(
  { origin }: Destination,
  { body, chunked = false, headers, method, target }: SentRequest,
  agent: Agent,
): Promise<TestResponse> {
  const { hostname, port, host } = new URL(origin);
  const framing = chunked ? ['Transfer-Encoding', 'chunked'] : ['Content-Length', String(body?.length ?? 0)];
  const outgoing = httpRequest({
    agent,
    method,
    path: target,
    host: hostname,
    port,
    // An array keeps the case of names, the order and repetitions.
    headers: ['Host', host, ...headers.flat(), ...(body === undefined ? [] : framing)],
  });
  const response = once(outgoing, 'response');
  // A server may respond and close before it has read a body that it rejects: only the response matters.
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

/** Sends one request: unchanged to a server with a port, as a `Request` to one in this process. Does not check the response. */
export const sendOnce = (
  to: Destination,
  method: string,
  target: string,
  headers: SentRequest['headers'],
  body?: Buffer,
): Promise<TestResponse> => sendUnchecked(to, { method, target, headers, body });

async function sendInProcess(
  { origin, fetch }: Destination,
  { body, chunked = false, headers, method, target }: SentRequest,
): Promise<TestResponse> {
  // A Request cannot have these methods (Fetch Standard §2.2.1).
  if (/^(CONNECT|TRACE|TRACK)$/i.test(method)) needs('a port');
  const requestBody =
    chunked && body ? ReadableStream.from([new Uint8Array(body)]) : body && new Uint8Array(body);
  const response = await fetch(`${origin}${target}`, {
    method,
    headers: headers.map(([name, value]) => [name, value]),
    body: requestBody,
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
