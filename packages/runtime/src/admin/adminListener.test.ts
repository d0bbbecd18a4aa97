import { expect, onTestFinished, test } from 'vitest';
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

const unknown = '{"code":"NOT_FOUND","message":"There is no route at this path.","status":404}';

test.for([
  ['GET', '/page', 200, 'a page'],
  ['GET', '/page?a=b', 200, 'a page'],
  ['HEAD', '/page', 200, ''],
  ...['/', '/pag', '/page/', '/v1/pets', '/constructor'].map((path) => ['GET', path, 404, unknown] as const),
  // Without details.
  [
    'GET',
    '/broken',
    500,
    '{"code":"INTERNAL_SERVER_ERROR","message":"The page could not be generated.","status":500}',
  ],
] as const)('the admin listener answers %s %s with %i and %j', async ([method, target, status, body]) => {
  const { origin } = await listen();
  const response = await fetch(origin + target, { method });
  const type = status === 200 ? 'text/plain' : 'application/json';
  expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
    status,
    type,
    body,
  ]);
});

test.for(['POST', 'PUT', 'DELETE', 'OPTIONS'])('the admin listener answers 405 to %s', async (method) => {
  const { origin } = await listen();
  const response = await fetch(`${origin}/page`, { method });
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

test('adminListener rejects a port that is in use with an error that names it', async () => {
  const { port } = await listen();
  await expect(adminListener({ host: '127.0.0.1', port, pages: {} })).rejects.toThrow(
    `Port ${port} on 127.0.0.1 is already in use`,
  );
});
