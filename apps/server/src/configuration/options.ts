import type { AppRouter, KeyIdentity } from '@petstore/core';
import type { GatewayOptions } from 'trpc-gateway';
import type { ServeOptions, TlsFiles } from 'trpc-gateway/serve';
import type { Configuration } from './configuration.ts';

/** Returns the gateway's limits, CORS, compression and proxy options. */
export function gatewayOptions(
  configuration: Configuration,
): Partial<GatewayOptions<AppRouter, KeyIdentity>> {
  const { CORS_ORIGINS, FAILED_ATTEMPTS: failures, PUBLIC_URL, RATE_LIMIT, TRUST_PROXY } = configuration;
  return {
    maxBodySize: configuration.MAX_BODY_BYTES,
    maxInFlight: configuration.MAX_IN_FLIGHT,
    maxQueueMs: configuration.MAX_QUEUE_MS,
    callTimeoutMs: configuration.CALL_TIMEOUT_MS,
    trpc: { maxBatchSize: configuration.MAX_BATCH_SIZE },
    compression: configuration.COMPRESSION === 'on',
    ...(PUBLIC_URL !== undefined && { publicUrl: PUBLIC_URL }),
    ...(TRUST_PROXY !== undefined && { trustProxy: TRUST_PROXY }),
    ...(CORS_ORIGINS !== undefined && { cors: { origins: CORS_ORIGINS } }),
    ...(RATE_LIMIT !== undefined && {
      rateLimit: { calls: RATE_LIMIT.count, windowMs: RATE_LIMIT.windowMs },
    }),
    ...(failures !== undefined && {
      failedAttempts: { attempts: failures.count, windowMs: failures.windowMs },
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
