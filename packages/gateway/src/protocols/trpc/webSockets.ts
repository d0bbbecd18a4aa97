import { TRPCError } from '@trpc/server';
import { after, type MaybePromise } from '../../http/after.ts';
import type { HttpResponse } from '../../http/response.ts';
import type { SocketAcceptor } from '../../http/webSocket.ts';
import type { ClientAddress } from '../../policies/clientAddress.ts';
import type { RequestScope } from '../../policies/requestScope.ts';
import type { SocketOrigins } from '../../policies/socketOrigins.ts';
import { LimitError } from '../../procedures/limitError.ts';
import { sendsParameters } from './connectionAuthorization.ts';
import type { TrpcErrorResponse } from './errorResponse.ts';
import type { SocketSettings } from './options.ts';
import { SocketConnection, socketTarget, type SocketConnectionOptions } from './socketConnection.ts';

export interface WebSocketsOptions<Identity> extends SocketConnectionOptions<Identity> {
  readonly allowsOrigin: SocketOrigins;
  readonly clientAddress: ClientAddress;
  /** Whether a credential is required. */
  readonly isProtected: boolean;
  /** The response to a request that is rejected. */
  readonly errorResponse: TrpcErrorResponse;
}

/**
 * tRPC over WebSocket (RFC 6455). The credential comes with the request that opens the socket or, where its URL has
 * `connectionParams=1` and it has no credential, with the first message: browsers can send no header here.
 */
export class WebSockets<Identity> {
  readonly #options: WebSocketsOptions<Identity>;
  readonly #connections = new Set<SocketConnection<Identity>>();
  readonly #waiting: WaitingSockets;

  constructor(options: WebSocketsOptions<Identity>) {
    this.#options = options;
    this.#waiting = new WaitingSockets(options.sockets);
  }

  /** Decides on a request for a WebSocket at the tRPC base path. It never throws and never rejects. */
  upgrade(scope: RequestScope<Identity>): MaybePromise<SocketAcceptor | HttpResponse> {
    const { admit, allowsOrigin, clientAddress, errorResponse, failedAttempts, isProtected } = this.#options;
    const { request } = scope;
    if (request.header('sec-websocket-version') !== '13') {
      // RFC 6455 §4.4, RFC 9110 §15.5.22
      const headers = [
        ['sec-websocket-version', '13'],
        ['upgrade', 'websocket'],
      ] as const;
      return { status: 426, headers };
    }
    if (!allowsOrigin(request)) {
      const message = 'Pages of this origin may not connect.';
      return errorResponse(new TRPCError({ code: 'FORBIDDEN', message }), scope);
    }
    if (isProtected && request.header('authorization') === undefined && sendsParameters(request)) {
      // Read while the request is here: the socket is counted by it later.
      const address = clientAddress(request);
      const rejection = failedAttempts?.silentRefusal(request) ?? this.#waiting.rejection(address);
      return rejection ? errorResponse(rejection, scope) : this.#acceptor(scope, address);
    }
    return after(admit(scope, socketTarget), (error) =>
      error ? errorResponse(error, scope) : this.#acceptor(scope),
    );
  }

  /** Tells every client to open another socket. */
  broadcastReconnect(): void {
    for (const connection of this.#connections) connection.reconnect();
  }

  /** @param waitingAddress the client's address if its credential comes later */
  #acceptor(scope: RequestScope<Identity>, waitingAddress?: string): SocketAcceptor {
    const accept: SocketAcceptor = (peer) => {
      const onChecked = waitingAddress === undefined ? undefined : this.#waiting.add(waitingAddress);
      const onClosed = () => this.#connections.delete(connection);
      const connection = new SocketConnection<Identity>(peer, this.#options, scope, onClosed, onChecked);
      this.#connections.add(connection);
      return connection;
    };
    return Object.assign(accept, { isUnauthenticated: waitingAddress !== undefined });
  }
}

/** Counts the open sockets that have sent no credential yet. */
class WaitingSockets {
  readonly #settings: SocketSettings;
  readonly #byAddress = new Map<string, number>();
  #count = 0;

  constructor(settings: SocketSettings) {
    this.#settings = settings;
  }

  /** @returns removes the socket, to be called once */
  add(address: string): () => void {
    this.#change(address, 1);
    return () => this.#change(address, -1);
  }

  /** Why an address may not open another one. */
  rejection(address: string): LimitError | undefined {
    const { maxWaiting, maxWaitingPerAddress } = this.#settings;
    const ofAddress = this.#byAddress.get(address) ?? 0;
    if (this.#count < maxWaiting && ofAddress < maxWaitingPerAddress) return undefined;
    const most =
      this.#count < maxWaiting
        ? `${maxWaitingPerAddress} of one address may (sockets.maxWaitingPerAddress).`
        : `${maxWaiting} may (sockets.maxWaiting).`;
    return new LimitError('waiting-sockets', {
      code: 'SERVICE_UNAVAILABLE',
      message: `Too many sockets wait for their credential: ${most} Try again later.`,
      retryAfterSeconds: 1,
    });
  }

  #change(address: string, by: 1 | -1): void {
    this.#count += by;
    const left = (this.#byAddress.get(address) ?? 0) + by;
    if (left > 0) this.#byAddress.set(address, left);
    else this.#byAddress.delete(address);
  }
}
