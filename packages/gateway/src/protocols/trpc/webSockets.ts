import { TRPCError } from '@trpc/server';
import { mapMaybePromise, type MaybePromise } from '../../http/maybePromise.ts';
import { OutgoingResponse } from '../../http/outgoingResponse.ts';
import type { SocketAcceptor } from '../../http/webSocket.ts';
import { passesOriginCheck } from '../../auth/origins.ts';
import type { RequestContext } from '../../calls/requestContext.ts';
import { LimitError } from '../../procedures/limitError.ts';
import type { SocketSettings } from './options.ts';
import { SocketConnection, expectsConnectionParams } from './socketConnection.ts';

/**
 * Accepts tRPC connections over WebSocket (RFC 6455). The credential comes with the request that opens the socket.
 * Browsers cannot set its headers, so if its URL has `connectionParams=1` and it has no credential, the first message
 * may have it.
 */
export class WebSockets {
  readonly #settings: SocketSettings;
  readonly #connections = new Set<SocketConnection>();
  readonly #waiting: WaitingSockets;

  constructor(settings: SocketSettings) {
    this.#settings = settings;
    this.#waiting = new WaitingSockets(settings.sockets);
  }

  /** Accepts or rejects a request for a WebSocket at the tRPC base path. It never throws and never rejects. */
  upgrade(context: RequestContext): MaybePromise<SocketAcceptor | OutgoingResponse> {
    const { allowsOrigin, clientAddress, errors, failedAttempts } = this.#settings;
    const { request } = context;
    if (request.header('sec-websocket-version') !== '13') {
      // RFC 6455 §4.4, RFC 9110 §15.5.22
      return new OutgoingResponse(426, [
        ['sec-websocket-version', '13'],
        ['upgrade', 'websocket'],
      ]);
    }
    if (!passesOriginCheck(allowsOrigin, context)) {
      const message = 'WebSockets from this origin are not allowed.';
      return errors.response(new TRPCError({ code: 'FORBIDDEN', message }), context);
    }
    if (expectsConnectionParams(request) && this.#settings.awaitsParameters(request)) {
      // Read now, since the socket is counted by address after the request has ended.
      const address = clientAddress(request);
      const rejection = failedAttempts?.silentRejection(request) ?? this.#waiting.rejection(address);
      return rejection ? errors.response(rejection, context) : this.#acceptor(context, address);
    }
    return mapMaybePromise(this.#settings.admit(context), (rejection) =>
      rejection ? errors.response(rejection, context) : this.#acceptor(context),
    );
  }

  get maxMessageBytes(): number {
    return this.#settings.sockets.maxMessageBytes;
  }

  get maxUnauthenticatedBytes(): number {
    return this.#settings.sockets.maxUnauthenticatedBytes;
  }

  /** Sends all clients a request to reconnect. */
  broadcastReconnect(): void {
    for (const connection of this.#connections) connection.reconnect();
  }

  /** @param waitingAddress the client's address, if the credential comes with the first message */
  #acceptor(context: RequestContext, waitingAddress?: string): SocketAcceptor {
    const accept: SocketAcceptor = (peer) => {
      const onChecked = waitingAddress === undefined ? undefined : this.#waiting.add(waitingAddress);
      const onClosed = () => this.#connections.delete(connection);
      const connection = new SocketConnection(peer, this.#settings, context, onClosed, onChecked);
      this.#connections.add(connection);
      return connection;
    };
    return Object.assign(accept, { isUnauthenticated: waitingAddress !== undefined });
  }
}

/** Counts the open sockets that have not sent their credential yet. */
class WaitingSockets {
  readonly #limits: SocketSettings['sockets'];
  readonly #byAddress = new Map<string, number>();
  #count = 0;

  constructor(limits: SocketSettings['sockets']) {
    this.#limits = limits;
  }

  /** Counts a socket. Returns the function that removes it, which must be called once. */
  add(address: string): () => void {
    this.#change(address, 1);
    return () => this.#change(address, -1);
  }

  /** Returns the error if an address may not open another one. */
  rejection(address: string): LimitError | undefined {
    const { maxUnauthenticatedSockets, maxUnauthenticatedSocketsPerAddress } = this.#limits;
    const ofAddress = this.#byAddress.get(address) ?? 0;
    if (this.#count < maxUnauthenticatedSockets && ofAddress < maxUnauthenticatedSocketsPerAddress)
      return undefined;
    const most =
      this.#count < maxUnauthenticatedSockets
        ? `the limit is ${maxUnauthenticatedSocketsPerAddress} per address.`
        : `the limit is ${maxUnauthenticatedSockets}.`;
    return new LimitError('waiting-sockets', {
      code: 'SERVICE_UNAVAILABLE',
      message: `Too many sockets are waiting to authenticate: ${most} Try again later.`,
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
