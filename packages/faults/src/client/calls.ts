import { currentHeaders, currentMeta } from '@petstore/testing/mcpMessages';
import type { Random } from '@petstore/testing/random';
import { type ClientRequest, LostConnection, textOf, type Transport } from './transport.ts';

/** Protocols over HTTP: REST, tRPC as single call, in a batch and in a batch whose results are streamed, and a tool. */
export const httpProtocols = ['rest', 'single', 'batch', 'lines', 'tool'] as const;
export type Protocol = (typeof httpProtocols)[number] | 'socket';

type Procedure = 'place' | 'note' | 'look' | 'publish';

export interface Call {
  readonly procedure: Procedure;
  readonly input: Readonly<Record<string, number | string>>;
  readonly token: string;
  /** The idempotency key. */
  readonly key?: string | undefined;
}

/** What a client learns from a call. */
export type Outcome =
  | { readonly kind: 'done'; readonly data: Readonly<Record<string, unknown>>; readonly isReplayed: boolean }
  | { readonly kind: 'failed'; readonly status: number; readonly message: string }
  /** There was no whole response. */
  | { readonly kind: 'lost' };

type Json = Readonly<Record<string, unknown>>;

/** Encodes a call. @param random chooses what the protocol leaves open: the revision, and the place of the key */
function encode(protocol: Exclude<Protocol, 'socket'>, call: Call, random: Random): ClientRequest {
  const { input, key, procedure, token } = call;
  const headers = {
    authorization: `Bearer ${token}`,
    ...(key !== undefined && { 'idempotency-key': key }),
    ...(protocol === 'lines' && { 'trpc-accept': 'application/jsonl' }),
  };
  if (protocol === 'rest') return encodeRest(call, headers);
  if (protocol === 'tool') return encodeTool(call, random);
  const inputs = protocol === 'single' ? input : { 0: input };
  const batch = protocol === 'single' ? '' : 'batch=1&';
  const path = `/trpc/${procedure}?${batch}`;
  return procedure === 'look'
    ? { method: 'GET', target: `${path}input=${encodeURIComponent(JSON.stringify(inputs))}`, headers }
    : post(path, inputs, headers);
}

const post = (target: string, body: unknown, headers: ClientRequest['headers']): ClientRequest => ({
  method: 'POST',
  target,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

function encodeRest({ input, procedure }: Call, headers: ClientRequest['headers']): ClientRequest {
  const { key, text, ...rest } = input;
  if (procedure === 'look') return { method: 'GET', target: `/v1/orders/${text}`, headers };
  if (procedure === 'publish') return post(`/v1/channels/${key}`, rest, headers);
  return post(procedure === 'place' ? '/v1/orders' : '/v1/notes', input, headers);
}

function encodeTool({ input, key, procedure, token }: Call, random: Random): ClientRequest {
  const place =
    key === undefined ? undefined : random.pick(['argument', 'params', '_meta', 'header'] as const);
  const isCurrent = random.chance(0.5);
  // A model writes the arguments of each call anew.
  const entries = Object.entries({ ...input, ...(place === 'argument' && { idempotencyKey: key }) });
  const params = {
    name: procedure,
    arguments: Object.fromEntries(random.chance(0.5) ? entries : entries.toReversed()),
    ...(place === 'params' && { idempotencyKey: key }),
    _meta: { ...(isCurrent && currentMeta), ...(place === '_meta' && { idempotencyKey: key }) },
  };
  return post(
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      ...(isCurrent && currentHeaders('tools/call', procedure)),
      ...(place === 'header' && key !== undefined && { 'idempotency-key': key }),
    },
  );
}

/** Sends a call over HTTP. It resolves in any case. */
export async function send(
  transport: Transport,
  protocol: Exclude<Protocol, 'socket'>,
  call: Call,
  random: Random,
): Promise<Outcome> {
  try {
    const { body, headers, status } = await transport.request(encode(protocol, call, random));
    return decode(protocol, status, headers, await textOf(body));
  } catch (error) {
    if (error instanceof LostConnection) return { kind: 'lost' };
    throw error;
  }
}

/** Decodes a whole response. @throws {SyntaxError} if it is none of the protocol */
function decode(
  protocol: Exclude<Protocol, 'socket'>,
  status: number,
  headers: ReadonlyMap<string, string>,
  text: string,
): Outcome {
  const isReplayed = headers.has('idempotent-replayed');
  if (protocol === 'lines') return decodeLines(status, text, isReplayed);
  const body = JSON.parse(text) as Json;
  if (protocol === 'rest')
    return status < 300 ? { kind: 'done', data: body, isReplayed } : failure(status, body);
  if (protocol === 'tool') return decodeTool(status, body);
  return decodeTrpc(status, protocol === 'batch' && Array.isArray(body) ? body[0] : body, isReplayed);
}

function failure(status: number, { message }: Json): Outcome {
  return { kind: 'failed', status, message: String(message) };
}

/** Decodes a result of tRPC over HTTP, or a message of tRPC over a WebSocket. */
export function decodeTrpc(status: number, { error, result }: Json, isReplayed: boolean): Outcome {
  if (error === undefined) return { kind: 'done', data: (result as Json)['data'] as Json, isReplayed };
  const { data } = error as { readonly data?: { readonly httpStatus?: number } };
  return failure(data?.httpStatus ?? status, error as Json);
}

/** Decodes the lines of a batch of one, whose last is its data or its error. */
function decodeLines(status: number, text: string, isReplayed: boolean): Outcome {
  if (!text.startsWith('{"0"')) return decodeTrpc(status, first(JSON.parse(text)), isReplayed);
  const lines = text.trim().split('\n');
  // Ended in the middle, such as when the credential was revoked.
  if (lines.length === 1) return { kind: 'lost' };
  const [, , [[value]]] = JSON.parse(lines.at(-1) ?? '') as [number, number, [[Json]]];
  if (value['error'] !== undefined) return decodeTrpc(status, value, isReplayed);
  return lines.length < 4 ? { kind: 'lost' } : { kind: 'done', data: value, isReplayed };
}

const first = (value: unknown): Json => (Array.isArray(value) ? value[0] : value) as Json;

function decodeTool(status: number, { error, result }: Json): Outcome {
  if (result === undefined) return failure(status, (error ?? {}) as Json);
  const { _meta, content, isError, structuredContent } = result as {
    readonly content: readonly [{ readonly text: string }];
    readonly structuredContent?: Json;
    readonly isError?: boolean;
    readonly _meta?: Json;
  };
  if (isError === true) {
    const body = JSON.parse(content[0].text) as Json;
    return failure(Number(body['status']), body);
  }
  const isReplayed = _meta?.['io.github.trpc-gateway/replayed'] === true;
  return { kind: 'done', data: structuredContent ?? {}, isReplayed };
}
