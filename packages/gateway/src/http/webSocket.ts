/** An open WebSocket. After `close` or `terminate`, and once it is closed, its methods do nothing. */
export interface WebSocketPeer {
  /** Bytes passed to `send` that the network has not taken yet. */
  readonly bufferedBytes: number;
  /** Sends a string as a text frame, bytes as a binary frame. Unsent bytes are buffered: watch `bufferedBytes`. */
  send(message: string | Uint8Array): void;
  /**
   * Sends a close frame after everything sent before (RFC 6455 §7.1.2).
   * @param code without one, the close frame is empty
   */
  close(code?: number, reason?: string): void;
  /** Ends the connection at once, without a close frame. */
  terminate(): void;
}

/** Limits for which an adapter ends a WebSocket: a message too large, too many pings, too many bytes its client does not read. */
export type SocketLimit = 'message-bytes' | 'pings' | 'unsent-bytes';

/** What an adapter calls on the owner of a WebSocket. None of it throws. */
export interface SocketHandler {
  /** @param data may be kept */
  message(data: Buffer, isBinary: boolean): void;
  /** The client sent a ping, and the adapter has replied: watch `bufferedBytes`. */
  pinged(): void;
  /** The network has taken some of the buffered bytes. */
  drained(): void;
  /** The client exceeded a limit: the adapter is about to end the socket, or has ended it. */
  limited(limit: SocketLimit): void;
  /**
   * The socket is closed: the last call.
   * @param isInOrder whether by a close frame: then the client may keep the connection open for up to 18 s
   * @returns when the calls in flight have ended, apart from subscriptions
   */
  closed(isInOrder?: boolean): Promise<void>;
  /** The server stops: close the socket once the calls in flight are answered. */
  drain(): void;
  /** How many calls are in flight. */
  readonly inFlight: number;
}

/** Receives a WebSocket when it is open. */
export interface SocketAcceptor {
  (socket: WebSocketPeer): SocketHandler;
  /** Whether the client is not authenticated yet: then messages of more than `maxUnauthenticatedBytes` are rejected. */
  readonly isUnauthenticated?: boolean;
}
