export interface ClientRequest {
  readonly method: 'GET' | 'POST';
  /** Path and query. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface ClientResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** @throws `LostConnection` where the connection is lost before the end of the body */
  readonly body: AsyncIterable<string>;
}

export interface ClientSocket {
  send(message: string): void;
  close(): void;
}

export interface SocketListener {
  message(text: string): void;
  /** Called once, however the connection ends. */
  closed(): void;
}

/** How a client reaches the service: over a simulated network, or over a real one. */
export interface Transport {
  /** @throws `LostConnection` if there is no response */
  request(request: ClientRequest, signal?: AbortSignal): Promise<ClientResponse>;
  /** Opens a WebSocket. @throws `LostConnection` if it is not opened, with the status if there was a response */
  open(target: string, headers: ClientRequest['headers'], listener: SocketListener): Promise<ClientSocket>;
}

/** A connection has ended before its response did, or none was made. */
export class LostConnection extends Error {
  readonly status: number | undefined;

  constructor(status?: number) {
    super(`The connection was lost${status === undefined ? '' : ` after ${status}`}.`);
    this.status = status;
  }
}

/** Reads the rest of a body. */
export async function textOf(body: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const part of body) text += part;
  return text;
}
