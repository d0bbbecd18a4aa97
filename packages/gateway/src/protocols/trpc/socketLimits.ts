import { LimitError } from '../../procedures/limitError.ts';

/** Number of unsent bytes above which subscriptions pause. */
export const pauseAboveBytes = 65_536;

/** Maximum number of unsent bytes for a client that does not read. */
export const maxSocketUnsentBytes = 1_048_576;

/** Bytes of unsent data, and of the connection parameters, that a socket may have before its credential is checked. */
export const maxUnauthenticatedBytes = 65_536;

/** Time that a socket has to send its credential as connection parameters, in milliseconds. */
export const credentialDeadlineMs = 5000;

/** Time for which a client may keep the connection open after it has closed the socket, in milliseconds. */
export const connectionCloseTimeoutMs = 18_000;

/** Maximum number of messages of a socket that wait for the context or for a later turn of the event loop. */
export const maxWaitingMessages = 5000;

/** Number of calls that wait from which on no further message is read. */
export const maxReadCalls = 1000;

/** Maximum number of messages of a socket that cannot be parsed. Clients send none. */
export const maxMalformedMessages = 100;

/** Maximum number of waiting messages, and of calls, that a socket is served before others have their turn. */
export const maxPerSlice = 100;

/** Of one socket: open calls, waiting ones and subscriptions. 4 KB each, beside what procedures hold: 20 MB. */
export const maxCallsPerSocket = 5000;

/** For calls beyond `maxCallsPerSocket`: a close would make the client resend all. Shared by up to 20,000. */
export const tooManyCalls = new LimitError('socket-calls', {
  code: 'TOO_MANY_REQUESTS',
  message: `${maxCallsPerSocket} calls or subscriptions are open on this WebSocket, which is the limit. End some of them, or open another WebSocket.`,
});

/** The open inputs must fit into one message: after a reconnect, the client sends all of them in one. */
export const tooManySubscriptionBytes = (most: number): LimitError =>
  new LimitError('socket-calls', {
    code: 'TOO_MANY_REQUESTS',
    message: `The open subscriptions of this WebSocket have inputs of more than ${most} bytes together, which is the limit. End some of them, or open another WebSocket.`,
  });

export const messageTooLarge = (maxBodySize: number): LimitError =>
  new LimitError('message-bytes', {
    code: 'PAYLOAD_TOO_LARGE',
    message: `The message is larger than ${maxBodySize} bytes (maxBodySize). Its calls did not run: send fewer or smaller ones at once, or send them over HTTP.`,
  });

/** The error of a query or mutation that arrives while the server stops and waits for other calls of its socket. */
export const stoppingError = new LimitError('stopping', {
  code: 'SERVICE_UNAVAILABLE',
  message: 'The server is stopping. The call did not run: repeat it on another connection.',
});
