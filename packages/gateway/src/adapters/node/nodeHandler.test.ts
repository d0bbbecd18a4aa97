import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { type HttpRequest } from '../../http/request.ts';
import type { Service } from '../../http/service.ts';
import { dial, get, ok, recorded, until } from '../testing/dial.ts';
import { nodeHandler, type NodeHandler } from './nodeHandler.ts';
import { requestLimits } from '../serve/serveOptions.ts';
import { MountedRequest } from './mountedRequest.ts';
import { NodeResponder } from './responder.ts';
import { serverOf } from './testing/serverOf.ts';

function serve(handle: Service['handle'], onRequest: (res: ServerResponse) => void) {
  const handler = nodeHandler({ handle });
  return serverOf((req, res) => {
    onRequest(res);
    handler(req, res);
  });
}

const throwing = () => {
  throw new Error('A middleware throws.');
};

it.each(['writeHead', 'write'] as const)(
  'nodeHandler closes the connection if a middleware throws in %s, and serves the next one',
  async (method) => {
    let isReturned = false;
    let requests = 0;
    const stream = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false, value: Buffer.from('a') }),
        async return() {
          isReturned = true;
          return { done: true as const, value: undefined };
        },
      }),
    };
    const handle = ({ path }: HttpRequest) => {
      if (path === '/stream') return ok(stream);
      return path === '/later' ? Promise.resolve(ok('a')) : ok(path === '/large' ? 'a'.repeat(100_000) : 'a');
    };
    const { origin, port } = await serve(handle, (res) => {
      requests += 1;
      if (requests <= 4) res[method] = throwing;
    });
    for (const path of ['/', '/later', '/large', '/stream']) await (await dial({ port }, get(path))).closed;
    await until(() => expect(isReturned).toBe(true));
    expect(await (await fetch(origin)).text()).toBe('a');
  },
);

it.each(['/small', '/large', '/stream'])(
  'nodeHandler sends the headers of %s where a middleware takes those of writeHead for pairs, as on-headers 1.0',
  async (path) => {
    async function* stream() {
      yield Buffer.from('a');
    }
    const body = path === '/stream' ? stream() : 'a'.repeat(path === '/large' ? 100_000 : 1);
    const headers = ['content-type: text/plain', 'set-cookie: a=1', 'set-cookie: b=2', 'vary: Accept'];
    const handle = () => ({
      ...ok(body),
      headers: headers.map((line) => line.split(': ') as [string, string]),
    });
    const { origin } = await serve(handle, (res) => {
      const writeHead = res.writeHead.bind(res);
      res.setHeader('Vary', 'Cookie');
      res.writeHead = (status: number, fields?: unknown) => {
        for (const [name = '', value = ''] of (fields ?? []) as string[]) res.setHeader(name, value);
        return writeHead(status);
      };
    });
    const response = await fetch(origin + path);
    expect([...response.headers].map((pair) => pair.join(': '))).toEqual(expect.arrayContaining(headers));
    expect(await response.text()).toMatch(/^a+$/);
  },
);

/** Injects a request without a connection, as light-my-request does for Fastify. */
function inject(handler: NodeHandler): ServerResponse {
  const message = new IncomingMessage(new PassThrough() as unknown as Socket);
  const headers = { headers: { host: 'x' }, rawHeaders: ['Host', 'x'] };
  Object.assign(message, { method: 'GET', url: '/a', httpVersionMajor: 1, httpVersionMinor: 1, ...headers });
  message.push(null);
  const res = new ServerResponse(message);
  handler(message, res);
  return res;
}

it('nodeHandler responds to each of 3,000 requests without a connection, such as those that a test injects, in one turn', async () => {
  const handler = nodeHandler({ handle: ({ path }) => ok(path) });
  const responses = Array.from({ length: 3000 }, () => inject(handler));
  await until(() => expect(responses.every(({ writableEnded }) => writableEnded)).toBe(true));
  expect(new Set(responses.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
});

it('with nodeHandler, pipelined requests that still wait when their client disconnects do not run', async () => {
  const { handle, handled } = recorded(() => new Promise(() => {}));
  const closed = Promise.withResolvers<void>();
  const { port } = await serve(handle, (res) => res.req.socket.once('close', closed.resolve));
  const { socket } = await dial({ port }, get('/1') + get('/2') + get('/3'));
  await until(() => expect(handled).toEqual(['/1']));
  socket.destroy();
  await closed.promise;
  expect(handled).toEqual(['/1']);
});

it('a response whose write throws no longer counts as unsent, so the next large response is sent', async () => {
  const body = 'x'.repeat(100_000);
  const service = { handle: () => ok(body) };
  const responder = new NodeResponder(service, 50_000);
  let requests = 0;
  const { origin } = await serverOf((message, res) => {
    requests += 1;
    if (requests === 1) res.write = throwing;
    responder.receive(new MountedRequest(message, res, requestLimits(service)));
  });
  await expect(fetch(origin)).rejects.toThrow('fetch failed');
  expect((await fetch(origin)).status).toBe(200);
});

it('trpc-gateway/node does not load undici and works without process.getBuiltinModule', async () => {
  const script = `
    process.getBuiltinModule = undefined;
    await import('${new URL('index.ts', import.meta.url).href}');
    console.log(process.moduleLoadList.filter((name) => name.includes('undici')));
  `;
  const args = ['--conditions=trpc-gateway-source', '--input-type=module', '-e', script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toBe('[]\n');
});
