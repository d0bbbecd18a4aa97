import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { type ClientRequest, LostConnection, textOf, type Transport } from './transport.ts';
import { SocketClient } from './socketClient.ts';

export const streamProtocols = ['rest', 'sse', 'socket'] as const;
export type StreamProtocol = (typeof streamProtocols)[number];

export interface Stream {
  readonly procedure: 'answer' | 'events';
  /** The key of the channel, or of the run. */
  readonly key: string;
  readonly token: string;
  readonly lastEventId: string | undefined;
  readonly onItem: (item: StreamItem) => void;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
}

/** What a stream sends. After `resync`, the client continues with its id. */
export interface StreamItem {
  readonly type: 'event' | 'resync';
  readonly id: string;
  readonly event: string;
}

export type StreamEnd =
  /** It is complete. */
  | { readonly kind: 'ended' }
  /** An error of the stream; before its begin, that of its response. */
  | { readonly kind: 'failed'; readonly status: number; readonly code: string; readonly hasBegun: boolean }
  /** The connection was lost, the client has left, or it has to connect again. */
  | { readonly kind: 'lost' };

type Json = Readonly<Record<string, unknown>>;

/** Reads a stream until its end. It resolves in any case. */
export async function readStream(
  transport: Transport,
  protocol: StreamProtocol,
  stream: Stream,
): Promise<StreamEnd> {
  try {
    if (protocol === 'socket') return await readSocket(transport, stream);
    return await readEvents(transport, protocol, stream);
  } catch (error) {
    if (error instanceof LostConnection) {
      // A request to open a WebSocket that was answered, such as with 401.
      const { status } = error;
      return status === undefined ? { kind: 'lost' } : { kind: 'failed', status, code: '', hasBegun: false };
    }
    throw error;
  }
}

function requestOf(protocol: 'rest' | 'sse', { key, lastEventId, procedure, token }: Stream): ClientRequest {
  const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
  if (protocol === 'rest') {
    const target = `/v1/${procedure === 'events' ? 'channels' : 'answers'}/${key}`;
    const from = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    return { method: 'GET', target, headers: { ...headers, ...from } };
  }
  const input = encodeURIComponent(JSON.stringify({ key, lastEventId }));
  return { method: 'GET', target: `/trpc/${procedure}?input=${input}`, headers };
}

async function readEvents(
  transport: Transport,
  protocol: 'rest' | 'sse',
  stream: Stream,
): Promise<StreamEnd> {
  const { body, headers, status } = await transport.request(requestOf(protocol, stream), stream.signal);
  if (status === 204) return { kind: 'ended' };
  if (headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    const { code, error } = JSON.parse(await textOf(body)) as { code?: string; error?: { data: Json } };
    return { kind: 'failed', status, code: String(code ?? error?.data['code']), hasBegun: false };
  }
  let end: StreamEnd = { kind: 'lost' };
  const parser = createParser({
    onEvent(event) {
      end = readEvent(event, stream) ?? end;
    },
  });
  for await (const part of body) parser.feed(part);
  return end;
}

/** Reads an event of REST or of tRPC. */
function readEvent({ data, event, id = '' }: EventSourceMessage, { onItem }: Stream): StreamEnd | undefined {
  switch (event) {
    case undefined:
      onItem({ type: 'event', id, event: String(JSON.parse(data)) });
      return undefined;
    case 'resync':
      onItem({ type: 'resync', id, event: '' });
      return undefined;
    case 'end':
    case 'return':
      return { kind: 'ended' };
    case 'error': {
      const { code, status } = JSON.parse(data) as { readonly code: string; readonly status: number };
      return { kind: 'failed', status, code, hasBegun: true };
    }
    case 'serialized-error':
      return readError(JSON.parse(data) as Json, onItem);
    default:
      // `connected`, `ping`
      return undefined;
  }
}

/** Reads the shape of an error of tRPC. */
function readError({ data }: Json, onItem: Stream['onItem']): StreamEnd {
  const {
    code,
    data: declared,
    httpStatus,
  } = data as {
    readonly code: string;
    readonly httpStatus: number;
    readonly data?: { readonly lastEventId?: string };
  };
  if (code !== 'RESYNC') return { kind: 'failed', status: httpStatus, code, hasBegun: true };
  onItem({ type: 'resync', id: declared?.lastEventId ?? '', event: '' });
  return { kind: 'lost' };
}

async function readSocket(transport: Transport, stream: Stream): Promise<StreamEnd> {
  const { key, lastEventId, onItem, procedure, signal, token } = stream;
  const client = await SocketClient.open(transport, token);
  signal.addEventListener('abort', () => client.close());
  if (signal.aborted) client.close();
  const end = await new Promise<StreamEnd>((resolve) => {
    client.subscribe(procedure, { key, lastEventId }, (message) => {
      if (message === undefined) return resolve({ kind: 'lost' });
      if (message['error'] !== undefined) return resolve(readError(message['error'] as Json, onItem));
      const { data, id, type } = message['result'] as { readonly type: string; id?: string; data?: Json };
      if (type === 'stopped') return resolve({ kind: 'ended' });
      if (type === 'data') onItem({ type: 'event', id: id ?? '', event: String(unwrap(data, id)) });
    });
  });
  client.close();
  return end;
}

/** tRPC sends a tracked event as `{ id, data }` in its data. */
const unwrap = (data: unknown, id: string | undefined): unknown =>
  id !== undefined && typeof data === 'object' ? (data as Json)['data'] : data;
