import type { KeyIdentity } from '@petstore/core';
import type { GatewayOptions, State } from 'trpc-gateway';
import type { ServeOptions, TlsFiles } from 'trpc-gateway/listen';
import type { Configuration } from './configuration.ts';
import type { service } from './service.ts';

/**
 * Returns the gateway's limits, CORS and proxy options.
 * @param shared the state in which workers count together; without it each process counts separately
 */
export function edgeOptions(
  configuration: Configuration,
  shared: { readonly state?: State } = {},
): Partial<GatewayOptions<typeof service.router, KeyIdentity>> {
  const { CORS_ORIGINS, FAILED_ATTEMPTS: failures, PUBLIC_URL, RATE_LIMIT, TRUST_PROXY } = configuration;
  return {
    maxBodyBytes: configuration.MAX_BODY_BYTES,
    maxInFlight: configuration.MAX_IN_FLIGHT,
    maxQueueMs: configuration.MAX_QUEUE_MS,
    callTimeoutMs: configuration.CALL_TIMEOUT_MS,
    ...shared,
    trpc: { maxBatchSize: configuration.MAX_BATCH_SIZE },
    ...(PUBLIC_URL !== undefined && { publicUrl: PUBLIC_URL }),
    ...(TRUST_PROXY !== undefined && { trustProxy: TRUST_PROXY }),
    ...(CORS_ORIGINS !== undefined && { cors: { origins: CORS_ORIGINS } }),
    ...(RATE_LIMIT !== undefined && {
      rateLimit: { calls: RATE_LIMIT.count, windowSeconds: RATE_LIMIT.windowSeconds },
    }),
    ...(failures !== undefined && {
      failedAttempts: { attempts: failures.count, windowSeconds: failures.windowSeconds },
    }),
  };
}

/** Returns the options of the server adapter: address, TLS files and connection limit. */
export function listenOptions(configuration: Configuration): ServeOptions {
  const { HOST, MAX_CONNECTIONS, PORT } = configuration;
  const tls = tlsFiles(configuration);
  return {
    host: HOST,
    port: PORT,
    ...(MAX_CONNECTIONS !== undefined && { maxConnections: MAX_CONNECTIONS }),
    ...(tls !== undefined && { tls }),
  };
}

/** Returns the TLS files; `undefined` if TLS is off. */
export const tlsFiles = ({ TLS_CERT: certFile, TLS_KEY: keyFile }: Configuration): TlsFiles | undefined =>
  certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile };
