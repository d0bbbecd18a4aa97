import { describe, expect, onTestFinished, test } from 'vitest';
import { adminListener } from './adminListener.ts';

const page = () => ({
  status: 200,
  headers: [['content-type', 'text/plain']] as const,
  body: 'a page',
});

async function listen() {
  const listener = await adminListener({
    host: '127.0.0.1',
    port: 0,
    pages: {
      '/page': page,
      '/broken': () => {
        throw new Error('secret');
      },
    },
  });
  onTestFinished(() => listener.close());
  return { ...listener, origin: `http://127.0.0.1:${listener.port}` };
}

describe('the admin listener', () => {
  test.for([
    ['GET', '/page', 'a page'],
    ['GET', '/page?a=b', 'a page'],
    ['HEAD', '/page', ''],
  ] as const)('the admin listener responds to %s %s with the page %j', async ([method, target, body]) => {
    const { origin } = await listen();
    const response = await fetch(origin + target, { method });
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      200,
      'text/plain',
      body,
    ]);
  });

  test.for(['/', '/pag', '/page/', '/v1/pets', '/constructor'])(
    'the admin listener answers 404 for the unknown path %s',
    async (path) => {
      const { origin } = await listen();
      const response = await fetch(origin + path);
      expect([response.status, await response.json()]).toEqual([
        404,
        { code: 'NOT_FOUND', message: 'There is no route at this path.', status: 404 },
      ]);
    },
  );

  test.for(['POST', 'PUT', 'DELETE', 'OPTIONS'])('the admin listener answers 405 to %s', async (method) => {
    const { origin } = await listen();
    const response = await fetch(`${origin}/page`, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  test('the admin listener answers 500 without details if a page throws', async () => {
    const { origin } = await listen();
    const response = await fetch(`${origin}/broken`);
    expect([response.status, await response.text()]).toEqual([
      500,
      '{"code":"INTERNAL_SERVER_ERROR","message":"The page could not be generated.","status":500}',
    ]);
  });

  test('adminListener rejects a port that is in use with an error that names it', async () => {
    const { port } = await listen();
    await expect(adminListener({ host: '127.0.0.1', port, pages: {} })).rejects.toThrow(
      `Port ${port} on 127.0.0.1 is already in use`,
    );
  });
});
