import { TRPCError } from '@trpc/server';
import { mapMaybePromise, type MaybePromise } from '../../http/maybePromise.ts';
import { OutgoingResponse } from '../../http/response.ts';
import type { SocketAcceptor } from '../../http/webSocket.ts';
import { passesOriginCheck } from '../../auth/origins.ts';
import type { RequestContext } from '../../calls/requestContext.ts';
import { LimitError } from '../../procedures/limitError.ts';
import type { SocketSettings } from './options.ts';
import { SocketConnection, expectsConnectionParams } from './socketConnection.ts';

/** Maximum of sockets without their credential yet; each buffers up to 2 MiB in uWebSockets.js and Bun. */
const maxWaiting = 500;

/**
 * A tenth, so that one address cannot occupy all. If all clients share one address, about 500 sockets per second can
 * still connect: each waits only for a round trip and the look-up of its key.
 */
const maxWaitingPerAddress = 50;

/**
 * Accepts tRPC over WebSocket (RFC 6455). The credential comes with the opening request. Browsers cannot set its
 * headers, so with `connectionParams=1` and no credential in it, the first message may have it.
 */
export class WebSockets {
  readonly #settings: SocketSettings;
  /** Number of open sockets that have not sent their credential yet, in total and by address. */
  #waiting = 0;
  readonly #waitingOf = new Map<string, number>();

  constructor(settings: SocketSettings) {
    this.#settings = settings;
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
      const rejection = failedAttempts?.silentRejection(request) ?? this.#waitingRejection(address);
      return rejection ? errors.response(rejection, context) : this.#acceptor(context, address);
    }
    return mapMaybePromise(this.#settings.admit(context), (rejection) =>
      rejection ? errors.response(rejection, context) : this.#acceptor(context),
    );
  }

  /** @param waitingAddress the client's address, if the credential comes with the first message */
  #acceptor(context: RequestContext, waitingAddress?: string): SocketAcceptor {
    return (peer) => {
      if (waitingAddress !== undefined) this.#countWaiting(waitingAddress, 1);
      const onChecked =
        waitingAddress === undefined ? undefined : () => this.#countWaiting(waitingAddress, -1);
      return new SocketConnection(peer, this.#settings, context, onChecked);
    };
  }

  #countWaiting(address: string, change: 1 | -1): void {
    this.#waiting += change;
    const left = (this.#waitingOf.get(address) ?? 0) + change;
    if (left > 0) this.#waitingOf.set(address, left);
    else this.#waitingOf.delete(address);
  }

  /** Returns the error if an address may not open another socket without a credential. */
  #waitingRejection(address: string): LimitError | undefined {
    const isFull = this.#waiting >= maxWaiting;
    if (!isFull && (this.#waitingOf.get(address) ?? 0) < maxWaitingPerAddress) return undefined;
    const most = isFull ? maxWaiting : `${maxWaitingPerAddress} per address`;
    return new LimitError('waiting-sockets', {
      code: 'SERVICE_UNAVAILABLE',
      message: `Too many sockets are waiting to authenticate: the limit is ${most}. Try again later.`,
      retryAfterSeconds: 1,
    });
  }
}
