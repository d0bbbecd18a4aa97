// What this adapter uses of Bun: types of its own, so that the package depends on no types of Bun.

import type { Bytes } from '../../http/request.ts';

export interface NativeSocket<Data> {
  readonly data: Data;
  /** Returns 0 or less if the network has not taken the message. */
  send(message: string | Uint8Array): number;
  close(code: number, reason?: string): void;
  terminate(): void;
  getBufferedAmount(): number;
}

export interface NativeRequest extends Request {
  /** Reads the body. It takes half the time of a `Uint8Array` on the result of `arrayBuffer`. */
  bytes(): Promise<Bytes>;
}

export interface NativeServer {
  readonly port: number;
  readonly pendingRequests: number;
  /** Returns `null` after the client has disconnected. */
  requestIP(request: Request): { readonly address: string } | null;
  /** Opens a WebSocket. Returns false if the request is no valid handshake. */
  upgrade(request: Request, options: { readonly data: object }): boolean;
  /** Sets after how many seconds without activity the connection of a request is closed; 0 means never. */
  timeout(request: Request, seconds: number): void;
  /** Stops listening and closes idle connections; with true, closes all. */
  stop(closeActiveConnections?: boolean): Promise<void>;
}

interface NativeOptions {
  readonly hostname: string;
  readonly port: number;
  readonly reusePort: boolean;
  readonly development: false;
  readonly idleTimeout: number;
  readonly maxRequestBodySize: number;
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  /** Returns `undefined` for a request that became a WebSocket. */
  fetch(request: NativeRequest, server: NativeServer): Response | undefined | Promise<Response | undefined>;
  readonly websocket: object;
}

/** The global of Bun; `undefined` on another runtime. */
export const { Bun } = globalThis as {
  readonly Bun?: { serve(options: NativeOptions): NativeServer };
};
