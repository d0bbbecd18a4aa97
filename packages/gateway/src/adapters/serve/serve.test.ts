import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type HttpRequest } from '../../http/request.ts';
import type { HttpResponse } from '../../http/response.ts';
import { t, testGateway } from '../../testing/testGateway.ts';
import { reservePort } from './reservePort.ts';
import { serveSettings } from './serveOptions.ts';
import {
  adapters,
  blockFor,
  chunkedPost,
  dial,
  get,
  ok,
  post,
  recorded,
  streamed,
  takenPort,
  until,
} from '../testing/dial.ts';

describe.each(adapters)('on $adapter', ({ serve, listen, source }) => {
  /** A request of an `EventSource`, which never connects again after another status than 200. */
  const getEvents = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n`;
  const statusesOf = (received: string) =>
    Array.from(received.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => status);

  it('a request can be read after its handler has returned', async () => {
    const listening = await listen(async (request) => {
      await new Promise(setImmediate);
      const { method, path, query } = request;
      const [own, none] = [request.header('x-a'), request.header('none')];
      return ok(JSON.stringify([method, path, query, own, new Map(request.headers()).get('x-a'), none]));
    });
    const bytes = 'GET /a%20b?c=%20d HTTP/1.1\r\nHost: x\r\nX-A: 1\r\n\r\n';
    const { text: received } = await dial(listening, bytes);
    await until(() => expect(received()).toContain(`["GET","/a%20b","c=%20d","1","1",null]`));
  });

  it('request.body rejects after the response was sent', async () => {
    let body: Promise<unknown> | undefined;
    const listening = await listen((request) => {
      setTimeout(() => {
        body = request.body(10);
      }, 10);
      return ok('done');
    });
    // Too large to be received before the request is handled.
    const { text: received } = await dial(listening, post('x'.repeat(20_000)));
    await until(() => expect(received()).toContain('done'));
    await until(() => expect(body).toBeDefined());
    await expect(body).rejects.toThrow('The response was sent before the request body was read.');
  });

  it('a rejected chunked body is read to its end, so that the client gets the response, not a reset', async () => {
    const listening = await listen(() => ({ ...ok('no'), status: 413 }));
    const { socket, text: received, closed } = await dial(listening, chunkedPost());
    for (let sent = 0; sent < 12; sent += 1) {
      socket.write(`10000\r\n${'x'.repeat(0x10000)}\r\n`);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(received()).toBe('');
    socket.write('0\r\n\r\n');
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 413 .*no$/s);
  });

  it.each<[when: string, requestText: string]>([
    ['during a call', get('/')],
    // Announced as large: a small body is received before the request is handled.
    ['in the middle of a body', post('half', 20_000)],
  ])('a client that disconnects %s aborts the signal of its request', async (_when, requestText) => {
    let request: HttpRequest | undefined;
    let outcome = '';
    const listening = await listen(async (received) => {
      request = received;
      await received.body(100_000).catch((error: unknown) => (outcome = String(error)));
      const { signal } = received;
      if (!signal.aborted) await once(signal, 'abort');
      return ok('too late');
    });
    const { socket } = await dial(listening, requestText);
    await until(() => expect(request).toBeDefined());
    socket.destroy();
    await until(() => expect(request?.signal.aborted).toBe(true));
    expect(outcome).toBe(requestText.includes('half') ? 'AbortError: The client disconnected.' : '');
    expect(await listening.close()).toBe(0);
  });

  it.each<[what: string, method: string, response: HttpResponse, own?: string]>([
    ['a HEAD request', 'HEAD', ok('done')],
    ['a request with a 204 response', 'DELETE', { status: 204, headers: [] }],
    ['a request that has it itself', 'GET', ok(''), 'Connection: close\r\n'],
  ])('close adds "Connection: close" to the response to %s', async (_what, method, response, own = '') => {
    const pendingResponse = Promise.withResolvers<HttpResponse>();
    const listening = await listen(() => pendingResponse.promise);
    const { text: received } = await dial(listening, `${method} / HTTP/1.1\r\nHost: x\r\n${own}\r\n`);
    await until(() => expect(listening.inFlight()).toBe(1));
    const closes = listening.close({ graceMs: 10 });
    pendingResponse.resolve(response);
    await until(() => expect(received()).toMatch(/\r\nConnection: close\r\n(?:.*\r\n)?\r\n$/is));
    expect(await closes).toBe(0);
  });

  /** Creates a stream that sends a byte, and ends when `last` is resolved. */
  function createStream() {
    const last = Promise.withResolvers<void>();
    const stream = (async function* () {
      yield new Uint8Array([97]);
      await last.promise;
    })();
    return { last, stream };
  }

  it('a stream that begins during shutdown ends completely', async () => {
    const response = Promise.withResolvers<HttpResponse>();
    const { last, stream } = createStream();
    const listening = await listen(() => response.promise);
    const { text: received, closed } = await dial(listening, get('/'));
    await until(() => expect(listening.inFlight()).toBe(1));
    const closes = listening.close({ graceMs: 10 });
    response.resolve(ok(Object.assign(stream, { end: last.resolve })));
    await until(() => expect(received()).toMatch(streamed('a')));
    expect(await closes).toBe(0);
    await closed;
  });

  it('after the deadline, while the last event of a stream is sent, requests on open connections and those that wait for a later turn do not run', async () => {
    const { last, stream } = createStream();
    const slow = () => handled.filter((path) => path === '/slow').length;
    let slowAtDeadline: number | undefined;
    const expire = () => (slowAtDeadline = slow());
    const { handle, handled } = recorded(({ path }) => {
      if (path === '/slow') blockFor(20);
      return ok(path === '/stream' ? Object.assign(stream, { expire }) : path);
    });
    const headers = [['access-control-allow-origin', 'https://shop.example']] as const;
    const listening = await listen({ handle, rejectHttp: (_request, { status }) => ({ status, headers }) });
    const [streaming, kept] = [await dial(listening), await dial(listening)];
    const clients = await Promise.all(Array.from({ length: 50 }, () => dial(listening)));
    streaming.socket.write(get('/stream'));
    await until(() => expect(streaming.text()).toMatch(/\r\n\r\n1\r\na/));
    for (const { socket } of [kept, ...clients]) socket.write(get('/first'));
    await until(() => {
      for (const client of [kept, ...clients]) expect(client.text()).toContain('/first');
    });
    for (const { socket } of clients) socket.write(getEvents('/slow'));
    await until(() => expect(slow()).toBeGreaterThan(0));
    const closes = listening.close({ timeoutMs: 20, graceMs: 0 });
    await until(() => expect(slowAtDeadline).toBeDefined());
    kept.socket.write(getEvents('/after'));
    await Promise.all([kept, ...clients].map(({ closed }) => closed));
    last.resolve();
    // A server stops once.
    expect(await listening.close()).toBe(await closes);
    expect(handled).not.toContain('/after');
    expect(slowAtDeadline).toBeLessThan(50);
    expect(slow()).toBe(slowAtDeadline);
    const ended = clients.filter((client) => /^retry: /m.test(client.text()));
    expect(ended.length).toBeGreaterThan(0);
    for (const { text: received } of ended) expect(received()).toContain('https://shop.example');
    for (const client of [kept, ...clients]) expect(statusesOf(client.text())).not.toContain('503');
  });

  it('close resolves even if nothing else keeps the process alive', async () => {
    const script = `
      import { serve } from '${new URL(source, import.meta.url).href}';
      const listening = await serve({ handle: () => new Promise(() => {}) });
      const client = new AbortController();
      fetch('http://127.0.0.1:' + listening.port, { signal: client.signal }).catch(() => {});
      while (listening.inFlight() === 0) await new Promise(setImmediate);
      client.abort();
      console.log(await listening.close({ graceMs: 10, timeoutMs: 50 }));
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    expect(stdout).toBe('1\n');
  });

  it('close serves requests that arrived before graceMs ended, even if the process was too busy to read them', async () => {
    const listening = await listen(async () => ok('in time'));
    const { socket, text: received, closed } = await dial(listening, get('/'));
    await until(() => expect(received()).toContain('in time'));
    // After a setImmediate, a turn begins with its timers. The rest runs in one turn: graceMs ends before the read.
    await new Promise(setImmediate);
    const closes = listening.close({ graceMs: 50 });
    socket.write(get('/'));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    await closed;
    expect(received()).toMatch(/\r\nConnection: close\r\n.*in time$/is);
    expect(await closes).toBe(0);
  });

  it.each(['at once', 'later'])(
    'close waits until a large response that is available %s is sent',
    async (when) => {
      const body = 'x'.repeat(20_000_000);
      const listening = await listen(() => (when === 'later' ? Promise.resolve(ok(body)) : ok(body)));
      const { socket, closed } = await dial(listening);
      let received = 0;
      socket.on('data', (data) => (received += data.length));
      socket.pause();
      socket.write(get('/'));
      await new Promise((resolve) => setTimeout(resolve, 100));
      const closes = listening.close();
      await new Promise((resolve) => setTimeout(resolve, 200));
      socket.resume();
      expect(await closes).toBe(0);
      await closed;
      expect(received).toBeGreaterThan(body.length);
    },
  );

  it('a stream that yields a number is returned, and its connection closed', async () => {
    let isEnded = false;
    async function* body() {
      try {
        yield 5 as never;
        yield new Uint8Array(1);
      } finally {
        isEnded = true;
      }
    }
    const { socket, closed } = await dial(await listen(() => ({ status: 200, headers: [], body: body() })));
    socket.write(get('/'));
    await closed;
    expect(isEnded).toBe(true);
  });

  it('serve rejects with in-use on the port of another server of Node or uWebSockets.js', async () => {
    const [port, own] = [await takenPort(), (await listen(() => ok())).port];
    for (const options of [{ port }, { port, reusePort: true }, { port: own }]) {
      await expect(serve({ handle: () => ok() }, options)).rejects.toMatchObject({
        code: 'in-use',
        message: expect.stringContaining(`Port ${options.port}`),
      });
    }
  });

  it('serve listens on a port right after its previous server has closed connections', async () => {
    const listening = await listen(() => new Promise(() => {}));
    const { closed } = await dial(listening, get('/'));
    await until(() => expect(listening.inFlight()).toBe(1));
    await listening.close({ timeoutMs: 0 });
    await closed;
    const next = await serve({ handle: () => ok() }, { port: listening.port });
    await next.close();
  });

  it('serve rejects with no-address on the address of another machine', async () => {
    await expect(serve({ handle: () => ok() }, { host: '192.0.2.1' })).rejects.toMatchObject({
      code: 'no-address',
    });
  });

  it.each<[options: object, message: string | RegExp]>([
    [{ maxHeaderSize: 0 }, 'maxHeaderSize is 0; it must be a positive integer'],
    [{ maxConnections: -1 }, 'maxConnections is -1; it must be a positive integer'],
    [{ maxConnections: Number.NaN }, 'maxConnections is NaN; it must be a positive integer'],
    [{ maxUnsentSize: 0 }, 'maxUnsentSize is 0; it must be a positive integer'],
    [{ port: 65_536 }, 'port is 65536; it must be an integer from 0 to 65535.'],
    [{ port: -1 }, 'port is -1; it must be an integer from 0 to 65535.'],
    [{ port: 1.5 }, 'port is 1.5; it must be an integer from 0 to 65535.'],
    [{ port: '80' }, 'port is "80"; it must be an integer from 0 to 65535.'],
    [
      { host: '/run/app.sock' },
      /^host is "\/run\/app\.sock"; it must be .* Unix socket.* createServer\(nodeHandler\(gateway\)\)/,
    ],
    [
      { hostname: '0.0.0.0', maxConnection: 1 },
      /^"hostname" is not an option of serve; its options are host, .*\n"maxConnection" is not an option of serve; did you mean "maxConnections"\?$/,
    ],
  ])('serve rejects %o with a message that names the option', async (options, message) => {
    await expect(serve({ handle: () => ok() }, options)).rejects.toThrow(message);
  });

  it('serve rejects the promise of a gateway', async () => {
    const gateway = Promise.resolve({ handle: () => ok() }) as never;
    await expect(serve(gateway)).rejects.toThrow(
      'serve takes a gateway, not a promise: await createGateway({ … }).',
    );
  });
});

// Only the Linux kernel distributes connections.
const onLinux = process.platform === 'linux' ? adapters : [];

describe.each(onLinux)('reusePort on $adapter', ({ adapter, listen, serve }) => {
  it('reusePort distributes the connections of one port over several servers', async () => {
    const first = await listen(() => ok('first'), { reusePort: true });
    await listen(() => ok('second'), { reusePort: true, port: first.port });
    const responses = new Set<string>();
    await until(async () => {
      const { text } = await dial(first, get('/'));
      await until(() => expect(text()).toMatch(/first$|second$/));
      responses.add(text().endsWith('first') ? 'first' : 'second');
      expect(responses.size).toBe(2);
    });
  });

  it('reservePort holds a port until servers listen on it', async () => {
    const { port, release } = await reservePort('127.0.0.1', 0);
    const listening = await listen(() => ok('held'), { port, reusePort: true });
    release();
    await until(async () => {
      const { text } = await dial(listening, get('/'));
      await until(() => expect(text()).toContain('held'));
    });
  });

  it.each([
    [true, undefined],
    // uWebSockets.js shares its port with every process that sets SO_REUSEPORT.
    ...(adapter === 'node:http' ? [[undefined, true] as const] : []),
    [undefined, undefined],
  ] as const)(
    'reusePort: %s of the first and %s of the second server rejects with in-use',
    async (ofFirst, ofSecond) => {
      const options = (reusePort: boolean | undefined) => (reusePort === undefined ? {} : { reusePort });
      const { port } = await listen(() => ok(), options(ofFirst));
      await expect(serve({ handle: () => ok() }, { port, ...options(ofSecond) })).rejects.toMatchObject({
        code: 'in-use',
      });
    },
  );
});

it('idle connections are kept for 620 s if the gateway has trustProxy, otherwise for 11 s', async () => {
  const gateway = await testGateway(t.router({}), { trustProxy: ['10.0.0.0/8'] });
  expect(serveSettings(gateway, {}).keepAliveMs).toBe(620_000);
  expect(serveSettings({ handle: () => ok() }, {}).keepAliveMs).toBe(11_000);
});

it('the host may be an IPv6 address in brackets', () => {
  expect(serveSettings({ handle: () => ok() }, { host: '[::1]' }).host).toBe('::1');
});
