import { execFile } from 'node:child_process';
import { Server } from 'node:http';
import { promisify } from 'node:util';
import { collectGarbage } from '@petstore/testing/collectGarbage';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { HttpResponse } from '../../http/response.ts';
import { dial, listenOn, get, ok, post, recorded, streamOf, until } from '../testing/dial.ts';
import { serve } from './serve.ts';

const listen = listenOn(serve);

const expecting = 'POST /expecting HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n';
it.each<[before: string, first?: () => HttpResponse['body']]>([
  ['no response'],
  ['a response of text', () => 'first'],
  ['a response of bytes', () => Buffer.from('first')],
  ['a streamed response', () => streamOf('fir', 'st')],
])(
  'a request with Expect: 100-continue behind %s gets 100 Continue when its body is read, and not before',
  async (_before, first) => {
    const held = Promise.withResolvers<void>();
    const listening = await listen(async (request) => {
      await held.promise;
      if (request.path === '/first') return ok(first?.());
      return ok(new TextDecoder().decode(await request.body(10)));
    });
    const { socket, text } = await dial(listening, (first ? get('/first') : '') + expecting);
    await until(() => expect(listening.inFlight()).toBe(first ? 2 : 1));
    expect(text()).toBe('');
    held.resolve();
    // Node 26 sends the two parts of the stream as one chunk.
    const body = '(?:first|(?:3\r\nfir\r\n2\r\nst|5\r\nfirst)\r\n0\r\n\r\n)';
    const before = first ? `HTTP/1\\.1 200 .*\r\n\r\n${body}` : '';
    const received = `^${before}HTTP/1\\.1 100 Continue\r\n\r\n`;
    await until(() => expect(text()).toMatch(new RegExp(`${received}$`, 's')));
    socket.write('hi');
    await until(() => expect(text()).toMatch(new RegExp(`${received}HTTP/1\\.1 200 .*\r\n\r\nhi$`, 's')));
  },
);

it.each([
  ['that is too large', '', 1],
  ['that is not read, behind another request', get('/first'), 0],
])(
  'a request with Expect: 100-continue and a body %s is rejected without 100 Continue, and its connection closes (RFC 9110 §10.1.1)',
  async (_what, before, maxBytes) => {
    const held = Promise.withResolvers<void>();
    const listening = await listen(async (request) => {
      await held.promise;
      if (request.path !== '/first' && maxBytes > 0) await request.body(maxBytes).catch(() => {});
      return { ...ok('no'), status: request.path === '/first' ? 200 : 413 };
    });
    const { text, closed } = await dial(listening, before + expecting);
    await until(() => expect(listening.inFlight()).toBe(before === '' ? 1 : 2));
    held.resolve();
    await closed;
    expect(text()).toMatch(
      /(?:^HTTP\/1\.1 200 .*\r\n\r\nno|^)HTTP\/1\.1 413 .*\r\nConnection: close\r\n.*no$/s,
    );
    expect(text()).not.toContain('100 Continue');
  },
);

const connectRequest = 'CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\n';

it.each([
  ['is not HTTP', 'hello\r\n\r\n'],
  ['is a CONNECT request', connectRequest],
])(
  'rejectHttp responds to input that %s, and the connection closes, without a response while an earlier request is handled',
  async (_what, input) => {
    const { handle, handled } = recorded(() => new Promise(() => {}));
    const listening = await listen({
      handle,
      rejectHttp: (_request, { code, status }) => ({ ...ok(`mine: ${code}`), status }),
    });
    const [alone, behind] = [await dial(listening, input), await dial(listening, get('/first') + input)];
    await Promise.all([alone.closed, behind.closed]);
    expect(alone.text()).toMatch(/^HTTP\/1\.1 400 .*mine: BAD_REQUEST$/s);
    expect(behind.text()).toBe('');
    expect(handled).toEqual(['/first']);
  },
);

it('a pipelined request is handled when the response before it is sent', async () => {
  const events: string[] = [];
  async function* parts() {
    for (const part of ['a', 'b']) {
      await new Promise(setImmediate);
      yield Buffer.from(part);
    }
  }
  const listening = await listen(async ({ path }) => {
    events.push(`begins ${path}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
    events.push(`ends ${path}`);
    return ok(path === '/2' ? parts() : path);
  });
  const { socket, text } = await dial(listening);
  const paths = ['/1', '/2', '/3'];
  socket.write(paths.map(get).join(''));
  await until(() => expect(text()).toMatch(/\r\n\r\n\/1.*\r\n0\r\n\r\nHTTP.*\r\n\r\n\/3$/s));
  expect(events).toEqual(paths.flatMap((path) => [`begins ${path}`, `ends ${path}`]));
  await until(() => expect(listening.inFlight()).toBe(0));
});

it('a connection of which 64 pipelined requests wait closes at the next one', async () => {
  const listening = await listen(() => new Promise(() => {}));
  const { socket, closed } = await dial(listening, get('/').repeat(65));
  await until(() => expect(listening.inFlight()).toBe(65));
  socket.write(get('/'));
  await closed;
  // The handled request is still running.
  await until(() => expect(listening.inFlight()).toBe(1));
});

it('beyond 500 pipelined requests that wait, a connection that has more than its share closes, and no other', async () => {
  const listening = await listen(() => new Promise(() => {}));
  const first = await dial(listening);
  const others = await Promise.all(Array.from({ length: 9 }, () => dial(listening)));
  for (const { socket } of [first, ...others]) socket.write(get('/').repeat(51));
  await until(() => expect(listening.inFlight()).toBe(510));
  // A tenth of 500, then an eleventh.
  const last = await dial(listening, get('/').repeat(21));
  await until(() => expect(listening.inFlight()).toBe(531));
  first.socket.write(get('/'));
  await first.closed;
  await until(() => expect(listening.inFlight()).toBe(481));
  last.socket.write(get('/').repeat(30));
  await until(() => expect(listening.inFlight()).toBe(511));
  last.socket.write(get('/'));
  await last.closed;
  expect(others.some(({ socket }) => socket.destroyed)).toBe(false);
});

it('beyond 500 pipelined requests that wait, on a connection each, one of each connection may wait', async () => {
  const listening = await listen(() => new Promise(() => {}));
  const clients = await Promise.all(Array.from({ length: 501 }, () => dial(listening)));
  for (const { socket } of clients) socket.write(get('/').repeat(2));
  await until(() => expect(listening.inFlight()).toBe(1002));
  const other = await dial(listening);
  clients[0]?.socket.write(get('/'));
  await clients[0]?.closed;
  other.socket.write(get('/').repeat(2));
  await until(() => expect(listening.inFlight()).toBe(1003));
  expect(other.socket.destroyed).toBe(false);
});

it('unread responses of one client close no connection of another client that pipelines', async () => {
  const listening = await listen(({ path }) =>
    path === '/large'
      ? ok(Buffer.alloc(20_000_000))
      : new Promise((resolve) => setTimeout(resolve, 20, ok(path))),
  );
  const holder = await dial(listening, get('/large'));
  holder.socket.pause();
  await until(() => expect(listening.inFlight()).toBe(1));
  const other = await dial(listening, get('/1') + get('/2') + get('/3'));
  await until(() => expect(other.text()).toMatch(/\/1[^]*\/2[^]*\/3/));
  // The one that does not read may not pipeline.
  holder.socket.write(get('/4'));
  await until(() => expect(listening.inFlight()).toBe(0));
});

it('200 connections that pipeline 20 requests for 900 kB and read nothing take at most 50 MB', async () => {
  let handled = 0;
  const listening = await listen(() => {
    handled += 1;
    return ok(Buffer.alloc(900_000));
  });
  const before = process.memoryUsage().arrayBuffers;
  const clients = await Promise.all(Array.from({ length: 200 }, () => dial(listening)));
  for (const { socket } of clients) {
    socket.pause();
    socket.write(get('/').repeat(20));
  }
  await until(() => expect(handled).toBeGreaterThanOrEqual(200));
  await until(() => {
    collectGarbage();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000);
  });
  for (const { socket } of clients) socket.destroy();
  await until(() => expect(listening.inFlight()).toBe(0));
});

it('requests after one that ends its connection are not handled, and more than 100 of them close it at once', async () => {
  const { handle, handled } = recorded(({ path }) => ok(path));
  const listening = await listen(handle);
  const withoutHost = 'GET / HTTP/1.1\r\n\r\n';
  const [few, many] = [await dial(listening), await dial(listening)];
  few.socket.write(withoutHost + get('/more').repeat(100));
  many.socket.write(withoutHost + get('/more').repeat(101));
  await Promise.all([few.closed, many.closed]);
  expect(few.text()).toMatch(/^HTTP\/1\.1 400 .*Host header/s);
  expect(many.text()).toBe('');
  expect(handled).toEqual([]);
});

it.each<[what: string, requestText: string]>([
  ['a GET', get('/')],
  ['a HEAD', 'HEAD / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ['a small POST', post('one')],
  ['a POST of 100 kB', post('x'.repeat(100_000))],
])('an idle connection keeps nothing of %s', async (_what, requestText) => {
  let handled: WeakRef<object> | undefined;
  const listening = await listen((request) => {
    handled = new WeakRef(request);
    return ok('done');
  });
  const { text } = await dial(listening, requestText);
  await until(() => expect(text()).toMatch(/^HTTP\/1\.1 200/));
  await until(() => {
    collectGarbage();
    expect(handled?.deref()).toBeUndefined();
  });
  expect(listening.connections().http).toBe(1);
});

async function* endless() {
  for (;;) {
    yield new Uint8Array(65_536);
    await new Promise(setImmediate);
  }
}

it.each<[when: string, requestText: string]>([
  ['before it sends anything', ''],
  ['in a request line', 'GET /a'],
  ['in a head', 'GET / HTTP/1.1\r\nHos'],
  ['in a small body', 'POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabc'],
  ['in a large body', 'POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nabc'],
  ['in a chunked body', 'POST /body HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc'],
  ['while its request is handled', get('/later')],
  ['while pipelined requests wait', get('/later').repeat(20)],
  ['in a stream', get('/stream')],
  ['in a large response', get('/large')],
  ['after malformed HTTP', 'hello\r\n\r\n'],
  ['in an upgrade', 'GET /now HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'],
])('a client that disconnects %s leaves no state, and the server continues', async (_when, requestText) => {
  const listening = await listen(async (request) => {
    const { path } = request;
    if (path === '/now') return ok('now');
    if (path === '/stream') return ok(endless());
    if (path === '/large') return ok('x'.repeat(20_000_000));
    if (path === '/body') await request.body(1_000_000).catch(() => {});
    if (path === '/later') await new Promise((resolve) => setTimeout(resolve, 50));
    return ok('late');
  });
  for (const end of ['end', 'destroy', 'resetAndDestroy'] as const) {
    const { socket, closed } = await dial(listening, requestText);
    socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 20));
    socket[end]();
    socket.resume();
    await closed;
  }
  await until(() => expect([listening.inFlight(), listening.connections().http]).toEqual([0, 0]));
  const next = await dial(listening, get('/now'));
  await until(() => expect(next.text()).toMatch(/now$/));
});

// `ulimit` is a command of the shell.
it.runIf(process.platform === 'linux')(
  'a process without free file descriptors serves again after connections have closed',
  async () => {
    const script = `
      import { serve } from '${new URL('index.ts', import.meta.url).href}';
      import { connect } from 'node:net';
      import { setTimeout as sleep } from 'node:timers/promises';
      const listening = await serve({ handle: () => ({ status: 200, headers: [], body: 'served' }) });
      const sockets = Array.from({ length: 60 }, () => connect(listening.port, '127.0.0.1').on('error', () => {}));
      await sleep(300);
      for (const socket of sockets) socket.destroy();
      await sleep(200);
      const response = await fetch('http://127.0.0.1:' + listening.port);
      console.log(await response.text(), sockets.length > listening.connections().http);
      await listening.close({ timeoutMs: 0 });
    `;
    const node = `exec "${process.execPath}" --conditions=trpc-gateway-source --input-type=module -e "$0"`;
    const { stdout } = await promisify(execFile)('sh', ['-c', `ulimit -n 80; ${node}`, script]);
    expect(stdout).toBe('served true\n');
  },
);

it('on a Node without shouldUpgradeCallback, serve warns that there are no WebSockets and serves all else', async () => {
  // As in Node 24.8: `createServer` sets it on each server.
  Object.defineProperty(Server.prototype, 'shouldUpgradeCallback', { configurable: true, set() {} });
  onTestFinished(() => void Reflect.deleteProperty(Server.prototype, 'shouldUpgradeCallback'));
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
  const { port } = await listen({ handle: () => ok(), upgrade: () => undefined });
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    `WebSockets need Node 22.21, 24.9 or newer, and this is ${process.version}. All else is served.`,
  );
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
});
