import { apiKey, bearer, cookie, createGateway, type CorsOptions } from 'trpc-gateway';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { needs } from '../../servers.ts';
import { acrossOrigins as router } from './hooks.ts';
import { startShape } from './startShape.ts';

// Origins that a function decides on: hasura/graphql-engine #8261, teamhanko/hanko #2870.

async function start(origins: CorsOptions['origins'], credentials = false) {
  const shape = await startShape(router, { cors: { origins, credentials } });
  const allowed = async (origin: string, method = 'GET') => {
    const response = await shape.rest('/read', { method, headers: { origin } });
    await response.text();
    expect(response.headers.get('vary')).toContain('Origin');
    return response.headers.get('access-control-allow-origin');
  };
  return { ...shape, allowed };
}

/** The status of a WebSocket upgrade by a page. */
const statusOfSocket = (server: string, origin: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    const socket = new WebSocket(`${server.replace('http', 'ws')}/trpc`, { origin });
    socket.once('upgrade', () => resolve(101));
    socket.once('open', () => socket.close());
    socket.once('unexpected-response', (request, { statusCode }) => {
      resolve(statusCode);
      request.destroy();
    });
    socket.once('error', reject);
  });

it.each(['*', 'https://*', 'https://*.app', 'https://*.shop.example'])(
  'createGateway rejects the pattern %s in cors.origins',
  async (origin) => {
    await expect(start([origin])).rejects.toThrow('For patterns, use a function.');
  },
);

describe('a function as cors.origins', () => {
  it('a function as cors.origins decides by origin and request', async () => {
    const { allowed } = await start(
      (origin, request) => origin.endsWith('.example') && request.path === '/v1/read',
    );
    expect(await allowed('https://a.example')).toBe('https://a.example');
    expect(await allowed('https://a.evil')).toBeNull();
  });

  it('a function as cors.origins allows no origin if it returns a promise or throws, and its error is reported', async () => {
    const promised = await start((async () => true) as never);
    expect(await promised.allowed('https://a.example')).toBeNull();
    const failing = await start(() => {
      throw new Error('The list is away.');
    });
    expect(await failing.allowed('https://a.example')).toBeNull();
    expect(failing.records.map(({ error }) => String(error))).toEqual(['Error: The list is away.']);
  });

  it('a function as cors.origins decides on WebSocket upgrades', async () => {
    needs('a port');
    const { origin } = await start((page) => page === 'https://shop.example');
    expect(await statusOfSocket(origin, 'https://shop.example')).toBe(101);
    expect(await statusOfSocket(origin, 'https://evil.example')).toBe(403);
  });

  const throwing = () => {
    throw new Error('The list is away.');
  };

  it('pages cannot use cookies over REST and tRPC if the function in cors.origins throws, and its error is reported', async () => {
    const { records, server } = await startShape(router, {
      cors: { origins: throwing, credentials: true },
      authentication: cookie({ cookie: 'session', proxyRejectsNonAscii: true, verify: () => ({}) }) as never,
    });
    const headers = { cookie: 'session=a', origin: 'https://a.example', 'content-type': 'application/json' };
    for (const path of ['/v1/write', '/trpc/write']) {
      const response = await server.fetch(`${server.origin}${path}`, { method: 'POST', headers });
      expect(response.status).toBe(403);
      expect(await response.text()).toContain('Pages of other sites are not allowed to send requests with');
    }
    expect(records.map(({ error }) => String(error))).toEqual(
      Array.from({ length: 2 }, () => 'Error: The list is away.'),
    );
  });

  it('pages cannot open WebSockets if the function in cors.origins throws, and its error is reported', async () => {
    needs('a port');
    const { origin, records } = await start(throwing);
    expect(await statusOfSocket(origin, 'https://a.example')).toBe(403);
    expect(records.map(({ error }) => String(error))).toEqual(['Error: The list is away.']);
  });
});

it('CORS exposes WWW-Authenticate if a scheme has the metadata of a protected resource', async () => {
  const { fetch } = await createGateway({
    router,
    authentication: [
      apiKey({ header: 'X-Shop-Key', verify: () => 'ada' }),
      bearer({
        verify: () => 'ada',
        protectedResource: {
          resource: 'https://api.example',
          authorizationServers: ['https://login.example'],
        },
      }),
    ],
    createContext: () => ({}),
    cors: { origins: ['https://shop.example'] },
    document: { title: 'Shop', version: '1.0.0' },
  });
  const headers = { origin: 'https://shop.example', 'access-control-request-method': 'GET' };
  const response = await fetch('http://localhost/v1/read', { headers });
  expect(response.status).toBe(401);
  expect(response.headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
});
