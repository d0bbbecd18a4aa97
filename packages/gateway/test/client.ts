import type { ApiError } from 'trpc-gateway/procedures';
import { type ResponseProblems, responseProblems, type ReceivedResponse } from './wire/responseProblems.ts';
import { type Fetch, globalFetch } from './listen.ts';
import './matchers.ts';
import type { OpenApiDocument } from './openApi.ts';

export interface SendOptions {
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
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
  readonly body: Buffer;
  json(): unknown;
  /** The body of an error, whose shape was checked on arrival. */
  error(): ApiError;
}

/** Throws for each problem of a response that `responseProblems.ts` finds. */
export interface Client {
  readonly origin: string;
  readonly apiKey: string;
  /** The document that the server serves at `/openapi.json`. */
  readonly document: OpenApiDocument;
  send(method: string, target: string, sending?: SendOptions): Promise<TestResponse>;
  get(target: string, sending?: SendOptions): Promise<TestResponse>;
}

/** Connects to a server with a valid key. @param address `fetch`: that of a server in this process, without a port */
export async function connect(
  address: Pick<Client, 'origin' | 'apiKey'> & { readonly fetch?: Fetch },
): Promise<Client> {
  const { origin, apiKey, fetch = globalFetch } = address;
  const documentResponse = await fetch(`${origin}/openapi.json`);
  if (documentResponse.status !== 200) {
    throw new Error(`GET /openapi.json answered ${documentResponse.status}.`);
  }
  const document = (await documentResponse.json()) as OpenApiDocument;
  const problemsOf: ResponseProblems = responseProblems(document);

  async function send(method: string, target: string, sending: SendOptions = {}): Promise<TestResponse> {
    const { authorization = `Bearer ${apiKey}`, body: sent, chunked = false, headers } = sending;
    const { contentType = sent === undefined ? null : 'application/json' } = sending;
    // Of bytes, `fetch` adds no Content-Type.
    const bytes = bytesOf(sent);
    const received = await fetch(origin + target, {
      method,
      headers: {
        ...(authorization !== null && { authorization }),
        ...(contentType !== null && { 'content-type': contentType }),
        ...headers,
      },
      body: chunked && bytes ? ReadableStream.from([bytes]) : bytes,
      duplex: 'half',
      redirect: 'manual',
    });
    const body = Buffer.from(await received.arrayBuffer());
    const response: TestResponse = {
      status: received.status,
      header: (name) => received.headers.get(name) ?? undefined,
      body,
      json: () => JSON.parse(body.toString()),
      error: () => JSON.parse(body.toString()),
    };
    const problems = problemsOf(method, target, response);
    if (problems.length > 0) {
      const text = body.toString().slice(0, 500);
      throw new Error(
        `${method} ${target} answered ${received.status}:\n- ${problems.join('\n- ')}\n${text}`,
      );
    }
    return response;
  }

  return { origin, apiKey, document, send, get: (target, sending) => send('GET', target, sending) };
}

function bytesOf(body: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (body === undefined) return undefined;
  if (body instanceof Uint8Array) return new Uint8Array(body);
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
}
