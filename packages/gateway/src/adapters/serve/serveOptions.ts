import { defaultBodyBytes, type Service } from '../../http/service.ts';
import { GatewayError } from '../../checks/gatewayError.ts';
import { formatValue } from '../../http/formatValue.ts';
import { isObject } from '../../http/isObject.ts';
import {
  flag,
  isText,
  optional,
  type OptionRules,
  positiveInteger,
  required,
  requireOptions,
} from '../../checks/optionRules.ts';
import { defaultUnsentBytes } from './openSockets.ts';
import type { RequestLimits } from './requestHead.ts';
import type { TlsFiles } from './tlsFiles.ts';

/** Options of `serve`. Sizes are in bytes. */
export interface ServeOptions {
  /** Address to listen on, such as 0.0.0.0 (in a container), ::1 or [::1], or a host name. Default: 127.0.0.1. */
  readonly host?: string;
  /** Port to listen on, 0 to 65535; 0 chooses a free port. Default: 0. */
  readonly port?: number;
  /**
   * Whether several processes can listen on the same port, if all of them set this option. The kernel distributes the
   * connections (Linux). Default: false; a port in use is an error.
   */
  readonly reusePort?: boolean;
  /** Certificate for TLS 1.2 or newer, read when the server starts. Default: no TLS. */
  readonly tls?: TlsFiles;
  /**
   * Maximum number of open connections, including WebSockets. A connection over the limit gets 503 and is closed; over
   * TLS it is closed without a response.
   *
   * A WebSocket that the server has closed with a close frame (RFC 6455 §7.1.2) counts for 18 s, since the client may
   * keep the connection open for that time; on node:http it counts until the connection ends. At most a quarter of
   * `maxConnections`, and at most 100, can be in this state. Further WebSockets are closed without a close frame
   * (1006), except when the server stops. Default: Infinity.
   */
  readonly maxConnections?: number;
  /**
   * Maximum length of a request target, in bytes, and of all header lines of a request together. A longer target gets
   * 414, longer headers get 431. Default: 16384.
   */
  readonly maxHeaderSize?: number;
  /**
   * Maximum number of response bytes that wait for clients to read them, over all connections, without streams and
   * WebSockets. Over the limit, a response of more than 64 KiB is replaced by 503, and a smaller response that the
   * client does not take at once closes the connection. Memory use may be twice the limit. Default: 268435456.
   *
   * On all WebSockets together, a tenth as many bytes may wait. Over that, the sockets with the most unsent bytes are
   * closed without a close frame until a quarter is free. On node:http, each frame counts 512 bytes more until it is
   * sent.
   */
  readonly maxUnsentSize?: number;
}

const serverLimit = optional(
  (value) => value === Infinity || positiveInteger.accepts(value),
  'a positive integer, or Infinity for no limit',
);
const file = required(isText, 'the path of a file');

/** The rules of the options of `serve`. */
export const serveRules: OptionRules<ServeOptions> = {
  host: optional(
    (value) => isText(value) && !/[/\\]/.test(value),
    "an IP address or a host name. For a Unix socket, listen on a server of your own: createServer(nodeHandler(gateway)).listen('/run/app.sock')",
  ),
  port: optional(
    (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 65_536,
    'an integer from 0 to 65535',
  ),
  reusePort: flag,
  tls: optional(isObject, "an object, such as tls: { certFile: 'cert.pem', keyFile: 'key.pem' }", {
    certFile: file,
    keyFile: file,
  } satisfies OptionRules<TlsFiles>),
  maxConnections: serverLimit,
  maxHeaderSize: positiveInteger,
  maxUnsentSize: serverLimit,
};

/** Checks that `caller` got a service. @throws {GatewayError} if not, such as for the promise of a gateway */
export function requireService(caller: string, service: Service): void {
  if (typeof (service as Service | undefined)?.handle === 'function') return;
  throw new GatewayError(
    `${caller} takes a gateway, not ${formatValue(service)}: await createGateway({ … }).`,
  );
}

/** Returns the IPv6 address in `[::1]`, as URLs write it. */
export const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

export type ServeSettings = ReturnType<typeof serveSettings>;

/**
 * Checks the arguments of `serve`, and adds the defaults.
 * @throws {GatewayError} with a line for each option that is unknown or invalid, and if `service` is not a service
 */
export function serveSettings(service: Service, options: ServeOptions) {
  requireService('serve', service);
  requireOptions('serve', options, serveRules, '');
  const { port = 0, reusePort = false, tls, maxConnections = Infinity } = options;
  const host = withoutBrackets(options.host ?? '127.0.0.1');
  const { maxHeaderSize = 16_384, maxUnsentSize = defaultUnsentBytes } = options;
  // A request that a proxy sends when its connection closes is lost. Idle connections are kept by AWS and nginx for 60 s,
  // by Traefik for 90 s, by Caddy for 2 min, and by Google for 10 min, which cannot be changed.
  const keepAliveMs = service.isBehindProxy ? 620_000 : 11_000;
  const limits: RequestLimits = {
    ...requestLimits(service),
    maxHeaderSize,
    isTls: tls !== undefined,
  };
  return { host, port, reusePort, tls, keepAliveMs, maxConnections, maxUnsentSize, limits };
}

/** Returns the limits of a service for requests whose head the server has read, with its own limits. */
export function requestLimits({
  maxBodySize = defaultBodyBytes,
  maxStreamSize = maxBodySize,
}: Service): RequestLimits {
  return { maxHeaderSize: Infinity, maxBodySize, maxStreamSize };
}

/** Times of a graceful shutdown, in milliseconds. */
export interface CloseOptions {
  /** Maximum time for calls in flight. Default: 10000. */
  readonly timeoutMs?: number;
  /**
   * Time in which clients can send one more request on idle keep-alive connections; its response has `Connection:
   * close`. Also the time between the request to reconnect on a WebSocket and its close. Default: 1000.
   */
  readonly graceMs?: number;
}

/** A server that listens, returned by `serve`. */
export interface Listening {
  readonly host: string;
  /** The port that the server listens on, also if `port` was 0. */
  readonly port: number;
  /** Returns the number of calls in flight: requests whose response has not ended, also streams, and calls on WebSockets. */
  inFlight(): number;
  /** Returns the number of open connections. A closed WebSocket counts until its calls have ended. */
  connections(): { readonly http: number; readonly webSockets: number };
  /**
   * Shuts the server down gracefully. It accepts the connections that wait in the kernel's queue, for at most half of `timeoutMs`, and then no more (on
   * Bun after `graceMs`). Every response has `Connection: close`, event streams end after the current event, and WebSockets close
   * after their calls have completed; further queries and mutations on them are answered with 503. It waits for calls in
   * flight until `timeoutMs` and for idle connections until `graceMs`, then closes the remaining connections. Tools that
   * stream (MCP) count as calls: at the deadline they get a result with 503, for which it waits 250 ms longer.
   * @returns the number of calls that were cut off at the deadline
   */
  close(options?: CloseOptions): Promise<number>;
  /**
   * Reads the certificate and its key again, for new connections. Does nothing without TLS. Undefined on uWebSockets.js
   * and Bun, which read them once: restart the process.
   * @throws {CertificateError} if they cannot be used; the current ones stay in use
   */
  reloadCertificate?(): Promise<void>;
}
