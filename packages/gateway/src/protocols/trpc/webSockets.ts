import { TRPCError } from '@trpc/server';
import { after, type MaybePromise } from '../../http/after.ts';
import type { HttpResponse } from '../../http/response.ts';
import type { SocketAcceptor } from '../../http/webSocket.ts';
import type { ClientAddress } from '../../policies/clientAddress.ts';
import type { RequestScope } from '../../policies/requestScope.ts';
import type { SocketOrigins } from '../../policies/socketOrigins.ts';
import { LimitError } from '../../procedures/limitError.ts';
import type { Procedure } from '../../procedures/procedures.ts';
import { sendsParameters } from './connectionAuthorization.ts';
import type { TrpcErrorResponse } from './errorResponse.ts';
import type { SocketSettings } from './options.ts';
import { SocketConnection, socketTarget, type SocketConnectionOptions } from './socketConnection.ts';

export interface WebSocketsOptions<Identity> extends Omit<SocketConnectionOptions<Identity>, 'definitions'> {
  readonly definitions: readonly Procedure[];
  readonly allowsOrigin: SocketOrigins;
  readonly clientAddress: ClientAddress;
  /** Whether a credential is required. */
  readonly isProtected: boolean;
  /** The response to a request that is rejected. */
  readonly errorResponse: TrpcErrorResponse;
}

export interface WebSockets<Identity> {
  /** Decides on a request for a WebSocket at the tRPC base path. It never throws and never rejects. */
  upgrade(scope: RequestScope<Identity>): MaybePromise<SocketAcceptor | HttpResponse>;
  /** Tells every client to open another socket. */
  readonly broadcastReconnect: () => void;
}

/**
 * tRPC over WebSocket (RFC 6455). The credential comes with the request that opens the socket or, where its URL has
 * `connectionParams=1` and it has no credential, with the first message: browsers can send no header here.
 */
export function createWebSockets<Identity>(options: WebSocketsOptions<Identity>): WebSockets<Identity> {
  const { admit, allowsOrigin, clientAddress, errorResponse, failedAttempts, isProtected, sockets } = options;
  const shared: SocketConnectionOptions<Identity> = {
    ...options,
    definitions: new Map(options.definitions.map((definition) => [definition.path, definition])),
  };
  const connections = new Set<SocketConnection<Identity>>();
  const waiting = new WaitingSockets(sockets);

  function acceptor(scope: RequestScope<Identity>, isAdmitted: boolean): SocketAcceptor {
    const accept: SocketAcceptor = (socket) => {
      const address = clientAddress(scope.request);
      if (!isAdmitted) waiting.add(address);
      const connection = new SocketConnection<Identity>(socket, shared, {
        scope,
        isAdmitted,
        onChecked: () => waiting.delete(address),
        onClosed: () => connections.delete(connection),
      });
      connections.add(connection);
      return connection;
    };
    return Object.assign(accept, { isUnauthenticated: !isAdmitted });
  }

  return {
    upgrade(scope) {
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
        return errorResponse(
          new TRPCError({ code: 'FORBIDDEN', message: 'Pages of this origin may not connect.' }),
          scope,
        );
      }
      // Read while the request is here: the socket is counted by it later.
      const address = clientAddress(request);
      if (isProtected && request.header('authorization') === undefined && sendsParameters(request)) {
        const rejection = failedAttempts?.silentRefusal(request) ?? waiting.rejection(address);
        return rejection ? errorResponse(rejection, scope) : acceptor(scope, false);
      }
      return after(admit(scope, socketTarget), (error) =>
        error ? errorResponse(error, scope) : acceptor(scope, true),
      );
    },
    broadcastReconnect() {
      for (const connection of connections) connection.messages.sendReconnect();
    },
  };
}

/** Counts the open sockets that have sent no credential yet. */
class WaitingSockets {
  readonly #max: number;
  readonly #maxPerAddress: number;
  readonly #byAddress = new Map<string, number>();
  #count = 0;

  constructor({ maxWaiting, maxWaitingPerAddress }: SocketSettings) {
    this.#max = maxWaiting;
    this.#maxPerAddress = maxWaitingPerAddress;
  }

  add(address: string): void {
    this.#count += 1;
    this.#byAddress.set(address, this.#of(address) + 1);
  }

  delete(address: string): void {
    this.#count -= 1;
    const left = this.#of(address) - 1;
    if (left > 0) this.#byAddress.set(address, left);
    else this.#byAddress.delete(address);
  }

  /** Why an address may not open another one. */
  rejection(address: string): LimitError | undefined {
    if (this.#count >= this.#max) return tooMany(`${this.#max} may (sockets.maxWaiting).`);
    return this.#of(address) >= this.#maxPerAddress
      ? tooMany(`${this.#maxPerAddress} of one address may (sockets.maxWaitingPerAddress).`)
      : undefined;
  }

  #of(address: string): number {
    return this.#byAddress.get(address) ?? 0;
  }
}

const tooMany = (most: string) =>
  new LimitError('waiting-sockets', {
    code: 'SERVICE_UNAVAILABLE',
    message: `Too many sockets wait for their credential: ${most} Try again later.`,
    retryAfterSeconds: 1,
  });
