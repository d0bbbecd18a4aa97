/** An open WebSocket. After `close` or `terminate`, and after the client has closed it, its methods do nothing. */
export interface WebSocketPeer {
  /** Number of bytes passed to `send` that the network has not taken yet. */
  readonly bufferedBytes: number;
  /** Sends a text frame, or bytes as a binary one. Unsent bytes are buffered without a limit: watch `bufferedBytes`. */
  send(message: string | Uint8Array): void;
  /**
   * Sends a close frame after all messages sent before (RFC 6455 §7.1.2).
   * @param code the close frame is empty without a code
   */
  close(code?: number, reason?: string): void;
  /** Ends the connection at once, without a close frame. */
  terminate(): void;
  /** Stops reading from the network until `resume`; messages that have been read still arrive. Not all adapters can. */
  pause?(): void;
  resume?(): void;
}

/**
 * Limits that close a WebSocket when they are exceeded: a message that is too large, too many messages that wait or are
 * malformed, too many pings, too many bytes that the client does not read.
 */
export type SocketLimit = 'message-bytes' | 'messages' | 'pings' | 'unsent-bytes';

/** Callbacks of a WebSocket, called by the adapter. None of them throws. */
export interface SocketHandler {
  /** Called with each message. `data` may be retained. */
  message(data: Buffer, isBinary: boolean): void;
  /** Called after the client sent a ping and the adapter replied: watch `bufferedBytes`. */
  pinged(): void;
  /** Called when the network has taken some of the buffered bytes. */
  drained(): void;
  /** Called when the client exceeded a limit, shortly before or after the adapter ends the connection. */
  limited(limit: SocketLimit): void;
  /**
   * Called last, when the socket is closed.
   * @param isInOrder whether a close frame was received or sent: then the client may keep the connection open for up to
   * 18 s
   * @returns a promise that resolves when the calls in flight, except subscriptions, have ended
   */
  closed(isInOrder?: boolean): Promise<void>;
  /**
   * Called when the server stops: complete the calls in flight, ask the client to reconnect, and close the socket if the
   * client does not do so within `graceMs`.
   */
  drain(graceMs: number): void;
  readonly inFlight: number;
}

/** Receives a WebSocket after it has opened, and returns its callbacks. */
export type SocketAcceptor = (socket: WebSocketPeer) => SocketHandler;
