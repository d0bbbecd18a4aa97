import { TRPCError, type AnyTRPCRouter, type inferRouterContext } from '@trpc/server';
import { after, type MaybePromise } from '../../http/after.ts';
import type { Calls } from '../../policies/calls.ts';
import type { CredentialWatch } from '../../policies/credentialWatch.ts';
import type { ClientAddress } from '../../policies/clientAddress.ts';
import type { FailedAttempts } from '../../policies/failedAttempts.ts';
import type { Target } from '../../policies/policy.ts';
import type { RequestScope } from '../../policies/requestScope.ts';
import { LimitError } from '../../procedures/limitError.ts';
import type { RateLimit } from '../../policies/rateLimit.ts';
import type { SocketOrigins } from '../../policies/socketOrigins.ts';
import type { HttpResponse } from '../../http/response.ts';
import type { WebSocketPeer, SocketAcceptor } from '../../http/webSocket.ts';
import type { Limits } from '../../policies/limits.ts';
import type { ContextOptions } from '../../procedures/contextOptions.ts';
import type { Exchange } from '../../policies/exchange.ts';
import type { RpcOptions, SocketOptions } from './options.ts';
import type { ProcedureDefinition } from '../../procedures/procedures.ts';
import { sendsParameters } from './connectionAuthorization.ts';
import { json, type RpcFailure } from './rpcFailure.ts';
import type { openConnection, SocketConnection } from './socketConnection.ts';
import { createSocketMessages } from './socketMessage.ts';

export interface SocketWireOptions<Router extends AnyTRPCRouter, Identity> {
  readonly router: Router;
  readonly definitions: readonly ProcedureDefinition[];
  readonly rpc: RpcOptions<Router> & { readonly maxBatchSize: number };
  readonly limits: Limits;
  readonly calls: Calls;
  /** Decides on a request, or on the credential of a socket, by the policies. */
  readonly admit: (scope: RequestScope<Identity>, target: Target) => MaybePromise<TRPCError | undefined>;
  readonly rateLimit: RateLimit<Identity> | undefined;
  readonly allowsOrigin: SocketOrigins;
  readonly clientAddress: ClientAddress;
  readonly failedAttempts: FailedAttempts | undefined;
  readonly sockets: SocketOptions;
  /** Whether a credential is asked for. */
  readonly isProtected: boolean;
  readonly watch: CredentialWatch;
  readonly createContext: (
    options: ContextOptions<Identity>,
  ) => inferRouterContext<Router> | Promise<inferRouterContext<Router>>;
  /** Told of each call and each malformed message. It does not throw. */
  readonly tell: (exchange: Exchange) => void;
  /** Answers a request that is not let in. */
  readonly fail: RpcFailure;
}

export interface SocketWire<Identity> {
  /** Decides on a request for a WebSocket at the tRPC base path. It never throws and never rejects. */
  upgrade(
    scope: RequestScope<Identity>,
  ): SocketAcceptor | HttpResponse | Promise<SocketAcceptor | HttpResponse>;
  /** Tells every client to connect anew. */
  readonly broadcastReconnect: () => void;
}

/**
 * The tRPC face over WebSocket (RFC 6455): what tRPC's own connection handler answers. The credential comes with the
 * request that opens the socket, or, where the URL has `connectionParams=1` and the request no credential, with the first
 * message: browsers can send no header here.
 */
export function createSocketWire<Router extends AnyTRPCRouter, Identity>(
  options: SocketWireOptions<Router, Identity>,
): SocketWire<Identity> {
  const { admit, allowsOrigin, clientAddress, fail, failedAttempts, isProtected, sockets } = options;
  const messages = sockets.experimental_encoder
    ? undefined
    : createSocketMessages(options.router, options.definitions, options.rpc.maxBatchSize);
  const connections = new Set<SocketConnection>();
  const waiting = new WaitingSockets(sockets);

  /** tRPC's adapter loads Node's HTTP: only who opens a socket pays. Once it is there, sockets are let in at once. */
  let loaded: typeof openConnection | undefined;
  const load = async () => (loaded = (await import('./socketConnection.ts')).openConnection);

  const acceptor = (
    scope: RequestScope<Identity>,
    isAdmitted: boolean,
  ): SocketAcceptor | Promise<SocketAcceptor> =>
    after(loaded ?? load(), (open): SocketAcceptor => {
      const accept = (socket: WebSocketPeer) => {
        const address = clientAddress(scope.request);
        if (!isAdmitted) waiting.add(address);
        const connection = open(socket, {
          ...options,
          scope,
          isAdmitted,
          messages,
          onJudged: () => waiting.delete(address),
          onClosed: () => connections.delete(connection),
        });
        connections.add(connection);
        return connection;
      };
      return Object.assign(accept, { isUnauthenticated: !isAdmitted });
    });

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
        return fail(new TRPCError({ code: 'FORBIDDEN', message: 'Pages of this origin may not connect.' }), [
          json,
        ]);
      }
      // Read while the request is here: the socket is counted by it later.
      const address = clientAddress(request);
      if (isProtected && request.header('authorization') === undefined && sendsParameters(request)) {
        const refusal = failedAttempts?.silentRefusal(request) ?? waiting.refusal(address);
        return refusal ? fail(refusal, [json]) : acceptor(scope, false);
      }
      return after(admit(scope, socketTarget), (error) =>
        error ? fail(error, [json]) : acceptor(scope, true),
      );
    },
    broadcastReconnect() {
      for (const connection of connections) connection.sendReconnect();
    },
  };
}

/** What a request for a WebSocket names: nothing yet. It counts as a call. */
export const socketTarget: Target = { calls: 1, isPublic: false };

/** Counts the sockets that are open and have sent no credential yet. */
class WaitingSockets {
  readonly #max: number;
  readonly #maxPerAddress: number;
  readonly #byAddress = new Map<string, number>();
  #count = 0;

  constructor({ maxWaiting = 1000, maxWaitingPerAddress = 100 }: SocketOptions) {
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

  /** Why an address may open no further one. */
  refusal(address: string): LimitError | undefined {
    if (this.#count >= this.#max) return tooManyWait(`${this.#max} may (sockets.maxWaiting).`);
    return this.#of(address) >= this.#maxPerAddress
      ? tooManyWait(`${this.#maxPerAddress} of one address may (sockets.maxWaitingPerAddress).`)
      : undefined;
  }

  #of(address: string): number {
    return this.#byAddress.get(address) ?? 0;
  }
}

const tooManyWait = (most: string) =>
  new LimitError('waiting-sockets', {
    code: 'SERVICE_UNAVAILABLE',
    message: `Too many sockets wait for their credential: ${most} Try again later.`,
    retryAfterSeconds: 1,
  });
