import { EventEmitter } from 'node:events';
import { TRPCError, type AnyTRPCProcedure, type AnyTRPCRouter } from '@trpc/server';
import { getWSConnectionHandler, jsonEncoder, type WSSHandlerOptions } from '@trpc/server/adapters/ws';
import type { TRPCRequestInfo } from '@trpc/server/http';
import type { ProcedureOptions } from '../../policies/calls.ts';
import { CallScope } from '../../policies/callScope.ts';
import { isDeeper, tooDeep } from '../../procedures/jsonDepth.ts';
import type { RequestScope } from '../../policies/requestScope.ts';
import { LimitError } from '../../procedures/limitError.ts';
import type { WebSocketPeer, SocketHandler, SocketLimit } from '../../http/webSocket.ts';
import { Reply } from '../../procedures/reply.ts';
import { authorizationOf, sendsParameters } from './connectionAuthorization.ts';
import { SocketAnswers } from './socketAnswers.ts';
import { SocketCalls, type EndedCall } from './socketCalls.ts';
import { socketExchange } from './socketExchange.ts';
import { keepAlive } from './socketKeepAlive.ts';
import type { SocketMessages } from './socketMessage.ts';
import { socketTarget, type SocketWireOptions } from './socketWire.ts';

export interface SocketConnectionOptions<Router extends AnyTRPCRouter, Identity> extends SocketWireOptions<
  Router,
  Identity
> {
  /** The request that opened the socket. */
  readonly scope: RequestScope<Identity>;
  /** Whether the policies have admitted that; else the credential comes with the first message. */
  readonly isAdmitted: boolean;
  /** Called once where that was waited for: it was judged, or the socket was closed. */
  readonly onJudged: () => void;
  /** Reads what needs none of tRPC's own handler; `undefined` where all messages do. */
  readonly messages: SocketMessages | undefined;
  readonly onClosed: () => void;
}

export interface SocketConnection extends SocketHandler {
  /** Tells the client to connect anew. */
  sendReconnect(): void;
}

/** Why a socket is closed (RFC 6455 §7.4.1; 1013 is in IANA's registry). */
const goingAway = 1001;
const policyViolation = 1008;
const internalError = 1011;
const tryAgainLater = 1013;

/** What either side may say at any time (`keepAlive`). */
const isHeartbeat = (data: Buffer, isBinary: boolean) =>
  !isBinary && data.byteLength === 4 && ['PING', 'PONG'].includes(data.toString());

function closeOf({ code }: TRPCError): [code: number, reason: string] {
  if (code === 'SERVICE_UNAVAILABLE' || code === 'TOO_MANY_REQUESTS')
    return [tryAgainLater, 'Try again later.'];
  return code === 'UNAUTHORIZED' || code === 'FORBIDDEN'
    ? [policyViolation, 'The credential is missing or not valid.']
    : [internalError, 'The credential could not be checked.'];
}

/** From how many unsent bytes on subscriptions wait before they give their next value. */
const pacedFromBytes = 65_536;

/** Within how many milliseconds the host's connection ends after a close frame (`UnsentBytes`). */
const connectionEndsWithinMs = 18_000;

/** `readyState`, as the package ws and browsers number it. */
const [open, closingState, closed] = [1, 2, 3];

/** How a socket is told of that its host has ended. */
const limitErrors: Readonly<Record<SocketLimit, LimitError>> = {
  'message-bytes': new LimitError('message-bytes', {
    code: 'PAYLOAD_TOO_LARGE',
    message: 'A message is larger than a socket takes (sockets.maxMessageBytes, maxUnauthenticatedBytes).',
  }),
  pings: new LimitError('pings', {
    code: 'TOO_MANY_REQUESTS',
    message: 'The client sent more than 100 pings in a second.',
  }),
  'unsent-bytes': new LimitError('unsent-bytes', {
    code: 'TOO_MANY_REQUESTS',
    message: 'The client does not read what it is sent (sockets.maxBufferedBytes, maxUnsentSocketBytes).',
  }),
};

const malformed = new TRPCError({ code: 'BAD_REQUEST', message: 'The message is malformed.' });

type ErrorInfo = Parameters<NonNullable<WSSHandlerOptions<AnyTRPCRouter>['onError']>>[0];
type ServeClient = ReturnType<typeof getWSConnectionHandler>;

/**
 * Serves one WebSocket: queries and mutations at once, all else through tRPC's own connection handler, which takes it for
 * a socket of the package ws.
 */
export function openConnection<Router extends AnyTRPCRouter, Identity>(
  socket: WebSocketPeer,
  options: SocketConnectionOptions<Router, Identity>,
): SocketConnection {
  const { isAdmitted, rateLimit, rpc, scope, sockets } = options;
  const { request, requestId } = scope;
  const {
    credentialDeadlineMs = 5000,
    maxBufferedBytes = 1_048_576,
    maxCallsPerSocket = 1000,
    maxUnauthenticatedBytes = 65_536,
  } = sockets;
  const encoder = sockets.experimental_encoder ?? jsonEncoder;
  const procedures = options.router._def.procedures as Readonly<Record<string, AnyTRPCProcedure>>;
  const isProcedure = (path: string, type: string) =>
    Object.hasOwn(procedures, path) && procedures[path]?._def.type === type;

  /** Messages that wait for the context, as they came: parsed, each may be thousands of calls. */
  let held: { readonly data: Buffer; readonly isBinary: boolean }[] | undefined = [];
  let heldBytes = 0;
  /** Whether tRPC's handler waits for the first message: it makes the context from that. */
  let awaitsParameters = sendsParameters(request);
  /** `undefined` until the context is made. */
  let answers: SocketAnswers<Router> | undefined;
  /** Whether it could not be made: tRPC's handler answers each call with the error then. */
  let hasNoContext = false;
  /** Whether tRPC's handler is given a message: what it says meanwhile, and not later, is that the message is malformed. */
  let isReading = false;
  let isMalformed = false;
  /** For how many calls their messages have paid. */
  let paid = 0;
  /** Whether the last message was one too many for the rate limit. */
  let isBeyondLimit = false;
  let isDraining = false;
  let refusal: TRPCError | undefined;
  /** Whether the caller is known. */
  let isKnown = isAdmitted;
  let endWatch = () => {};
  let whenEnded = () => {};
  let waiting: (() => void)[] = [];

  const client = Object.assign(new EventEmitter(), {
    readyState: open,
    send(message: string | Uint8Array) {
      isMalformed ||= isReading;
      // Answers are not asked to wait, so a client that asks and does not read would fill the memory.
      if (isRead()) socket.send(message);
    },
    close: () => (refusal ? close(...closeOf(refusal)) : close()),
    terminate: () => socket.terminate(),
  });

  function close(code?: number, reason?: string): void {
    if (client.readyState === open) client.readyState = closingState;
    held = undefined;
    socket.close(code, reason);
  }

  /** Whether the client reads what it is sent. Its socket is closed where not. */
  function isRead(): boolean {
    if (socket.bufferedBytes <= (isKnown ? maxBufferedBytes : maxUnauthenticatedBytes)) return true;
    if (client.readyState === open) reportLimit('unsent-bytes');
    close(tryAgainLater, 'What is sent is not read.');
    return false;
  }

  const report = (operation: string | undefined, ended: Omit<EndedCall, 'path'>) =>
    options.tell(socketExchange(requestId, request.path, operation, ended));

  const reportLimit = (limit: SocketLimit) =>
    report(undefined, { isStream: false, durationMs: 0, error: limitErrors[limit] });

  /** Tells of a message that no call comes of. Beyond the limit nobody goes on with those: a call would be refused. */
  function reject(error: TRPCError): void {
    report(undefined, { isStream: false, durationMs: 0, error });
    if (isBeyondLimit) close(tryAgainLater, 'Try again later.');
  }

  /** Counts a call, or a message. */
  const charge = () => (isKnown ? rateLimit?.count(scope, 1) : undefined);

  const calls = new SocketCalls({
    admit() {
      if (calls.inFlight >= maxCallsPerSocket) {
        close(policyViolation, `A socket may run ${maxCallsPerSocket} calls at once.`);
        throw new TRPCError({ code: 'TOO_MANY_REQUESTS' });
      }
      // No call begins before the context is made, and with it the caller is known.
      const tooMany = paid > 0 ? undefined : charge();
      if (tooMany) throw tooMany;
      paid = Math.max(0, paid - 1);
    },
    run: (procedure, call) =>
      options.calls.procedure(procedure, { ...call, getRawInput: shallow(call) }, request),
    ready: () =>
      client.readyState === open && socket.bufferedBytes > pacedFromBytes
        ? new Promise((resolve) => waiting.push(resolve))
        : undefined,
    onEnd(ended) {
      report(ended.path, ended);
      if (calls.unary === 0) whenEnded();
      closeIfDrained();
    },
  });

  const { maxJsonDepth, maxResponseBytes } = options.limits;
  const shallow =
    ({ getRawInput }: ProcedureOptions) =>
    async () => {
      const input = await getRawInput();
      if (isDeeper(input, maxJsonDepth)) throw tooDeep(maxJsonDepth);
      return input;
    };

  const release = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };

  let judged = () => {};
  /** Ends the wait for the credential. The time that its look-up may take is limited for itself. */
  let credentialCame = () => {};
  if (!isAdmitted) {
    const deadline = setTimeout(() => {
      options.failedAttempts?.countSilent(request);
      close(policyViolation, 'No credential came in time.');
    }, credentialDeadlineMs).unref();
    credentialCame = () => clearTimeout(deadline);
    judged = () => {
      judged = () => {};
      credentialCame();
      options.onJudged();
    };
  }

  /** A client that closed its socket may keep the connection: one that waited for its credential keeps its place so long. */
  function judgeLate(): void {
    credentialCame();
    setTimeout(judged, connectionEndsWithinMs).unref();
    judged = () => {};
  }

  function takeHeld() {
    const taken = held ?? [];
    held = undefined;
    return taken;
  }

  async function createContext({ info }: { readonly info: TRPCRequestInfo }): Promise<unknown> {
    if (!isAdmitted) {
      refusal = await options.admit(scope, {
        ...socketTarget,
        authorization: authorizationOf(info.connectionParams),
      });
    }
    judged();
    if (refusal) throw refusal;
    isKnown = true;
    const { identity, token } = scope;
    if (client.readyState === open) {
      endWatch = options.watch(token, request, () =>
        close(policyViolation, 'The credential is not valid any more.'),
      );
    }
    let context: unknown;
    try {
      const made: unknown = options.createContext({
        request,
        identity,
        // Nobody reads it, and it lasts as long as the socket: what is said is not kept.
        reply: Object.assign(new Reply(), { append() {} }),
        requestId,
        idempotencyKey: undefined,
        info,
      });
      context = await options.calls.waitPromise(new CallScope(request), Promise.resolve(made));
    } catch (cause) {
      hasNoContext = true;
      for (const { data, isBinary } of takeHeld()) read(data, isBinary, false);
      throw cause;
    }
    const waited = takeHeld();
    answers = new SocketAnswers(
      {
        config: options.router._def._config,
        request,
        calls: options.calls,
        running: calls,
        maxJsonDepth,
        maxResponseBytes,
        onError: rpc.onError,
        isOpen: () => client.readyState === open,
        send: (text) => client.send(text),
      },
      context,
    );
    // What tRPC's handler is given begins in a later turn: what comes behind it must not overtake it.
    let areAllPlain = true;
    for (const { data, isBinary } of waited) areAllPlain = read(data, isBinary, areAllPlain);
    return context;
  }

  if (sockets.keepAlive?.enabled) keepAlive(client, sockets.keepAlive);
  const serveClient = getWSConnectionHandler({
    ...sockets,
    keepAlive: undefined,
    router: calls.view(options.router),
    maxBatchSize: rpc.maxBatchSize,
    createContext,
    onError(failure: ErrorInfo) {
      // A call's failure is told of when it has ended, a malformed message when it is read.
      const { error, path, type } = failure;
      const isCall = path !== undefined && isProcedure(path, type);
      if (!isCall && !isReading) reject(error);
      // One that needs a context and gets none never begins.
      if (isCall && hasNoContext) report(path, { isStream: type === 'subscription', durationMs: 0, error });
      // tRPC looks after what an asynchronous one rejects with.
      return rpc.onError?.({ ...failure, req: request });
    },
    // Without `wss`, which `applyWSSHandler` alone reads; and `createContext`'s type hangs on the router's.
  } as unknown as WSSHandlerOptions<AnyTRPCRouter>);
  serveClient(
    // What the handler uses of either: `on`, `once`, `send`, `close`, `terminate`, `readyState`; `url`, `headers`, `socket`.
    client as unknown as Parameters<ServeClient>[0],
    // Of the URL it reads the query alone; with the host and the path, which are the client's choice, it may be none.
    { url: `/?${request.query}`, headers: {}, socket: {} } as unknown as Parameters<ServeClient>[1],
  );

  /**
   * A message costs what a call does, whatever is in it, and its first call no more.
   * @returns whether it was answered without tRPC's handler
   */
  function read(data: Buffer, isBinary: boolean, mayBePlain = true): boolean {
    isReading = !isHeartbeat(data, isBinary);
    isMalformed = false;
    isBeyondLimit = isReading && charge() !== undefined;
    if (isReading && !isBeyondLimit) paid += 1;
    client.emit('any message');
    const isText = isReading && !isBinary;
    const plain = answers && mayBePlain && isText ? options.messages?.(data.toString()) : undefined;
    if (answers && plain) {
      isReading = false;
      answers.answer(plain);
      return true;
    }
    client.emit('message', data, isBinary);
    isReading = false;
    if (isMalformed) reject(malformed);
    return false;
  }

  function sendReconnect(): void {
    if (client.readyState === open) client.send(encoder.encode({ id: null, method: 'reconnect' }));
  }

  function closeIfDrained(): void {
    if (!isDraining) return;
    // A call ends before its answer is sent. Not before: a client that is told to connect anew repeats its open calls.
    setImmediate(() => {
      if (calls.unary > 0 || client.readyState !== open) return;
      sendReconnect();
      close(goingAway, 'The server is stopping.');
    });
  }

  return {
    message(data, isBinary) {
      // What it would begin now its client asks for again: it is about to be told to connect anew.
      if (isDraining || client.readyState !== open) return;
      if (answers || hasNoContext || awaitsParameters || isHeartbeat(data, isBinary)) {
        if (awaitsParameters && !isHeartbeat(data, isBinary)) {
          awaitsParameters = false;
          credentialCame();
        }
        // The calls of the last one have begun: what it has paid for and not called is forfeited.
        paid = 0;
        read(data, isBinary);
        return;
      }
      heldBytes += data.byteLength;
      if (heldBytes > maxUnauthenticatedBytes)
        close(policyViolation, 'Too much was sent before the credential was checked.');
      else held?.push({ data, isBinary });
    },
    pinged: isRead,
    limited: reportLimit,
    drained() {
      if (socket.bufferedBytes <= pacedFromBytes) release();
    },
    async closed(isInOrder = false) {
      // The host bounds those that it closes itself.
      if (isInOrder && !isKnown && client.readyState === open) judgeLate();
      else judged();
      client.readyState = closed;
      held = undefined;
      endWatch();
      client.emit('close');
      calls.abort();
      options.onClosed();
      if (calls.unary > 0) {
        await new Promise<void>((resolve) => {
          whenEnded = resolve;
        });
      }
    },
    drain() {
      isDraining = true;
      closeIfDrained();
    },
    get inFlight() {
      return calls.inFlight;
    },
    sendReconnect,
  };
}
