import { type Call, decodeTrpc, type Outcome } from './calls.ts';
import type { ClientSocket, Transport } from './transport.ts';

type Message = Readonly<Record<string, unknown>>;

/** tRPC over a WebSocket. */
export class SocketClient {
  #socket: ClientSocket | undefined;
  #count = 0;
  /** What waits for messages, by the id of its request. */
  readonly #waiting = new Map<number, (message: Message | undefined) => void>();
  isOpen = true;
  /** Whether the server has asked the client to connect again: it will close the connection. */
  isLeaving = false;

  /** @throws `LostConnection` */
  static async open(transport: Transport, token: string): Promise<SocketClient> {
    const client = new SocketClient();
    client.#socket = await transport.open(
      '/trpc',
      { authorization: `Bearer ${token}` },
      { message: (text) => client.#receive(text), closed: () => client.#closed() },
    );
    return client;
  }

  /** Sends a call. It resolves in any case. */
  call({ input, procedure }: Call): Promise<Outcome> {
    return new Promise((resolve) => {
      const method = procedure === 'look' ? 'query' : 'mutation';
      const id = this.#send(method, procedure, input, (message) => {
        this.#waiting.delete(id);
        resolve(message ? decodeTrpc(500, message, false) : { kind: 'lost' });
      });
    });
  }

  /** @param onMessage receives each message of the subscription, and `undefined` when the connection is closed */
  subscribe(path: string, input: unknown, onMessage: (message: Message | undefined) => void): void {
    this.#send('subscription', path, input, onMessage);
  }

  close(): void {
    this.#socket?.close();
  }

  #send(
    method: string,
    path: string,
    input: unknown,
    onMessage: (message: Message | undefined) => void,
  ): number {
    this.#count += 1;
    const id = this.#count;
    this.#waiting.set(id, onMessage);
    if (this.isOpen)
      this.#socket?.send(JSON.stringify({ id, jsonrpc: '2.0', method, params: { path, input } }));
    else onMessage(undefined);
    return id;
  }

  #receive(text: string): void {
    const message = JSON.parse(text) as Message;
    if (message['method'] === 'reconnect') this.isLeaving = true;
    this.#waiting.get(Number(message['id']))?.(message);
  }

  #closed(): void {
    this.isOpen = false;
    for (const onMessage of this.#waiting.values()) onMessage(undefined);
    this.#waiting.clear();
  }
}
