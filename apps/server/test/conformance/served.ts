/** The options that test cases start a server with. */
export interface ServeOptions {
  /** The origin, and optionally the path, by which clients reach the server through a proxy. Default: none. */
  readonly publicUrl?: string;
  /** The maximum size of a request body, in bytes. Default: the default of the server, 1048576. */
  readonly maxBodySize?: number;
  /**
   * An existing folder, empty at first, to store animals in: a case stops the server and starts it again on this folder.
   * A store in a database can derive the database's name from the folder's. Default: a temporary store.
   */
  readonly dataDir?: string;
}

/** A running pet store and a valid API key for it. */
export interface Served {
  /** Scheme, host and port, without a trailing slash. */
  readonly origin: string;
  /** An API key that is valid until `close`. */
  readonly apiKey: string;
  /** Stops the server; requests afterwards fail to connect. */
  close(): Promise<void>;
}

/** Starts a pet store on a free port. Without `dataDir` it starts empty, and `close` removes its data. */
export type Serve = (options?: ServeOptions) => Promise<Served>;
