/** What cases may ask of the server they run on. */
export interface ServeOptions {
  /** The origin, and path if any, that clients see in front of a proxy. */
  readonly publicUrl?: string;
  /** The largest request body, in bytes. Default: the server's own, 1048576. */
  readonly maxBodyBytes?: number;
  /**
   * An existing folder, empty at first, to keep animals in: a case stops the server and starts it on the same folder.
   * Where they are kept in a database, the folder's name may name it.
   */
  readonly dataDir?: string;
}

/** A pet store that listens, and a key that it takes. */
export interface Served {
  /** Scheme, host and port, without a slash at the end. */
  readonly origin: string;
  /** A key that is good until `close`. */
  readonly apiKey: string;
  close(): Promise<void>;
}

/** Starts a pet store on a free port; without `dataDir` it starts empty and leaves nothing behind. */
export type Serve = (options?: ServeOptions) => Promise<Served>;

/** What a server of the pet store may do otherwise than the others. */
export interface ConformanceOptions {
  /** Methods that the HTTP server rejects before the pet store sees the request. Default: none. */
  readonly unknownMethods?: readonly string[];
}
