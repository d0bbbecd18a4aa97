import type { Service } from '../../http/service.ts';
import { formatValue } from '../../http/formatValue.ts';
import { memberNames, unknownOptions } from '../../http/unknownOptions.ts';
import type { TlsFiles } from './tlsFiles.ts';

export interface ServeOptions {
  /** The address to listen on. Default: 127.0.0.1. */
  readonly host?: string;
  /** 0: any free port. Default: 0. */
  readonly port?: number;
  /**
   * Whether processes that all set this may listen on the same port: the kernel distributes the connections (Linux).
   * Default: false, and a port in use is an error.
   */
  readonly reusePort?: boolean;
  /** Serves over TLS, 1.2 or newer. Default: not. */
  readonly tls?: TlsFiles;
  /**
   * How many connections may be open, WebSockets among them. A WebSocket that the server closed with a close frame (RFC
   * 6455 §7.1.2) counts for 18 s, since its client may keep it open so long; on node:http only while it does. At most a
   * quarter of them, and 100, count so at a time; further ones are ended without a close frame (1006), except when the
   * server stops. One connection more
   * than `maxConnections` is answered 503 and closed; over TLS it is only closed. Default: Infinity.
   */
  readonly maxConnections?: number;
  /** How long a request's target may be, in bytes; a longer one is 414. Default: 16384. */
  readonly maxUrlBytes?: number;
  /** How long a request's header lines may be together, in bytes; longer ones are 431. Default: 16384. */
  readonly maxHeaderBytes?: number;
  /**
   * How many bytes of responses may wait for clients to read them, all connections together, streams and WebSockets aside.
   * Beyond it a response of more than 64 KiB is 503, and a smaller one that its client does not take at once ends the
   * connection. In memory it may be twice as much. Default: 268435456.
   */
  readonly maxUnsentBytes?: number;
  /**
   * How many bytes may wait for the clients of WebSockets to read them, all sockets together. Beyond it, the sockets with
   * the most unsent bytes are ended, without a close frame, until a quarter is free. In memory it may be twice as much. On
   * node:http a frame counts with 512 bytes more, until all of it is taken. Default: 25165824.
   */
  readonly maxUnsentSocketBytes?: number;
}

const limitsPerRequest = ['maxUrlBytes', 'maxHeaderBytes'] as const;
const limitsPerServer = ['maxConnections', 'maxUnsentBytes', 'maxUnsentSocketBytes'] as const;

const names = {
  host: true,
  port: true,
  reusePort: true,
  tls: true,
  maxConnections: true,
  maxUrlBytes: true,
  maxHeaderBytes: true,
  maxUnsentBytes: true,
  maxUnsentSocketBytes: true,
} satisfies Record<keyof ServeOptions, true>;

const tlsNames = memberNames<TlsFiles>({ certFile: true, keyFile: true });

/**
 * @param before the arguments of the caller in front of the gateway
 * @throws {TypeError} for what is not a gateway, such as the promise of one
 */
export function requireService(caller: string, service: Service, before = ''): void {
  if (typeof (service as Service | undefined)?.handle === 'function') return;
  throw new TypeError(
    `${caller} takes a gateway, not ${formatValue(service)}: ${caller}(${before}await createGateway({ … })).`,
  );
}

/**
 * @throws {RangeError} for an unknown option, a port that is none, and a limit that is not a positive integer; `Infinity`
 * lifts those of the whole server
 */
export function checkOptions(options: ServeOptions): void {
  if (typeof options !== 'object') {
    throw new TypeError(
      `serve takes an object of options, not ${formatValue(options)}: serve(gateway, { port: 3000 }).`,
    );
  }
  const unknown = [
    ...unknownOptions('serve', options, Object.keys(names)),
    ...unknownOptions('tls', options.tls ?? {}, tlsNames),
  ];
  if (unknown.length > 0) throw new RangeError(unknown.join('\n'));
  const { port = 0 } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new RangeError(`port is ${formatValue(port)}; it must be a whole number from 0 to 65535.`);
  }
  for (const name of [...limitsPerRequest, ...limitsPerServer]) {
    const limit = options[name];
    const isLifted = limit === Infinity && limitsPerServer.some((other) => other === name);
    if (limit === undefined || isLifted || (Number.isSafeInteger(limit) && limit > 0)) continue;
    throw new RangeError(`The option ${name} of serve is ${limit}; it must be a positive integer.`);
  }
}

export interface CloseOptions {
  /** How long calls in flight may take. Default: 10 s. */
  readonly deadlineMs?: number;
  /** How long idle keep-alive connections may send one more request, to be answered `Connection: close`. Default: 1 s. */
  readonly graceMs?: number;
}

export interface Listening {
  readonly host: string;
  readonly port: number;
  /** How many calls are in flight: requests whose response has not ended, streams among them, and calls on WebSockets. */
  inFlight(): number;
  /** How many connections are open; WebSockets also until their calls have ended. */
  connections(): { readonly http: number; readonly webSockets: number };
  /**
   * Stops in order: no new connections, `Connection: close` on every response, streams of events end after an event,
   * WebSockets once their calls are answered. It waits for calls in flight until the deadline and for idle keep-alive
   * connections until the grace is over, then closes what is left.
   * @returns how many calls were cut off at the deadline
   */
  close(options?: CloseOptions): Promise<number>;
  /**
   * Reads the certificate and its key again, for new connections. Without TLS it does nothing.
   * @throws {CertificateError} where they cannot be served: then the current ones stay
   */
  reloadCertificate(): Promise<void>;
}
