import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readConfiguration } from './configuration.ts';
import { gatewayOptions, listenOptions } from './options.ts';
import { apiKey, newFolder } from '../../test/testing/newFolder.ts';
import { workersOf } from '../../test/testing/petStoreProcess.ts';
import { startServerInProcess } from '../../test/testing/startServerInProcess.ts';
import { listPets } from '../../test/testing/petCalls.ts';

/** Starts a server with environment variables and returns its origin. */
const startOrigin = async (env: Readonly<Record<string, string>>) => (await startServerInProcess(env)).origin;

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

test('COMPRESSION=on compresses the document for clients that accept it', async () => {
  const codings = ['off', 'on'].map(async (COMPRESSION) => {
    const { headers } = await fetch(`${await startOrigin({ COMPRESSION })}/openapi.json`, {
      headers: { 'accept-encoding': 'gzip' },
    });
    return headers.get('content-encoding');
  });
  expect(await Promise.all(codings)).toEqual([null, 'gzip']);
});

test('RATE_LIMIT answers 429 to a call over the limit, and sends RateLimit-Policy', async () => {
  const origin = await startOrigin({ RATE_LIMIT: '2/600' });
  const responses = [await listPets(origin), await listPets(origin), await listPets(origin)];
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(responses[0]?.headers.get('ratelimit-policy')).toBe('"default";q=2;w=600');
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

test('FAILED_ATTEMPTS answers 429 to a further invalid key from one address, per client behind TRUST_PROXY', async () => {
  const env = { FAILED_ATTEMPTS: '1/600', TRUST_PROXY: '127.0.0.0/8' };
  const origin = await startOrigin(env);
  const statusOf = async (client: string, key: string) =>
    (await listPets(origin, { key, headers: { 'x-forwarded-for': client } })).status;
  expect(await statusOf('192.0.2.1', 'a-bad-key')).toBe(401);
  expect(await statusOf('192.0.2.1', 'another-bad-key')).toBe(429);
  expect(await statusOf('192.0.2.2', 'a-third-bad-key')).toBe(401);
  expect(await statusOf('192.0.2.1', apiKey)).toBe(200);
});

test('MAX_CONNECTIONS answers 503 to a connection over the limit', async () => {
  const { hostname, port } = new URL(await startOrigin({ MAX_CONNECTIONS: '1' }));
  const dial = async () => {
    const socket = connect(Number(port), hostname);
    onTestFinished(() => {
      socket.destroy();
    });
    await once(socket, 'connect');
    return socket;
  };
  await dial();
  const [received] = await once(await dial(), 'data');
  expect(String(received)).toMatch(/^HTTP\/1\.1 503 /);
});
