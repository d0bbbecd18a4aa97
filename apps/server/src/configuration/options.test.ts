import { expect, test, vi } from 'vitest';
import { readConfiguration } from './configuration.ts';
import { gatewayOptions, listenOptions } from './options.ts';
import { apiKey, newFolder } from '../../test/testing/newFolder.ts';
import { workersOf } from '../../test/testing/petStoreProcess.ts';
import { listPets } from '../../test/testing/petCalls.ts';

test('each variable of the limits and of the network is passed to the gateway or to the listener', () => {
  const configuration = readConfiguration({
    CALL_TIMEOUT_MS: '1',
    COMPRESSION: 'on',
    CORS_ORIGINS: 'https://a.example',
    FAILED_ATTEMPTS: '2/3',
    HOST: '127.0.0.4',
    MAX_BATCH_SIZE: '5',
    MAX_BODY_BYTES: '6',
    MAX_CONNECTIONS: '7',
    MAX_IN_FLIGHT: '8',
    MAX_QUEUE_MS: '9',
    PORT: '10',
    PUBLIC_URL: 'https://b.example/',
    RATE_LIMIT: '11/12',
    TLS_CERT: 'cert',
    TLS_KEY: 'key',
    TRUST_PROXY: '::1',
  });
  expect(gatewayOptions(configuration)).toEqual({
    callTimeoutMs: 1,
    compression: true,
    cors: { origins: ['https://a.example'] },
    failedAttempts: { attempts: 2, windowMs: 3000 },
    trpc: { maxBatchSize: 5 },
    maxBodySize: 6,
    maxInFlight: 8,
    maxQueueMs: 9,
    publicUrl: 'https://b.example',
    rateLimit: { calls: 11, windowMs: 12_000 },
    trustProxy: ['::1'],
  });
  expect(listenOptions(configuration)).toEqual({
    host: '127.0.0.4',
    port: 10,
    maxConnections: 7,
    tls: { certFile: 'cert', keyFile: 'key' },
  });
});

test('without variables, responses are not compressed, and no origin, proxy or limit of callers is set', () => {
  const options = gatewayOptions(readConfiguration({}));
  const limits = ['callTimeoutMs', 'compression', 'maxBodySize', 'maxInFlight', 'maxQueueMs', 'trpc'];
  expect(Object.keys(options).toSorted()).toEqual(limits);
  expect(options.compression).toBe(false);
});

test.runIf(process.platform === 'linux')(
  'RATE_LIMIT and FAILED_ATTEMPTS are shared by workers, also after a worker was replaced',
  async () => {
    const { serve } = await newFolder();
    const env = { API_KEY: apiKey, WORKERS: '2', RATE_LIMIT: '10/6000', FAILED_ATTEMPTS: '10/6000' };
    const server = await serve({ env });
    /** Sends 40 calls on separate connections, which the kernel distributes over the workers. */
    const statuses = async (key: string) => {
      const counts: Record<number, number> = {};
      for (let each = 0; each < 40; each += 1) {
        const { status } = await listPets(server.origin, { key, headers: { connection: 'close' } });
        counts[status] = (counts[status] ?? 0) + 1;
      }
      return counts;
    };
    expect(await statuses(apiKey)).toEqual({ 200: 10, 429: 30 });
    expect(await statuses('a-bad-key')).toEqual({ 401: 10, 429: 30 });
    process.kill(Number(workersOf(server)[0]), 'SIGKILL');
    await vi.waitFor(() => expect(workersOf(server)).toHaveLength(3), { interval: 20 });
    expect(await statuses(apiKey)).toEqual({ 429: 40 });
  },
);
