import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, connect } from 'node:net';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BodyTooLargeError, type HttpRequest } from '../../http/request.ts';
import type { HttpResponse } from '../../http/response.ts';
import type { Handle } from '../../http/service.ts';
import { adapters, dial, get, ok, until } from './testing/dial.ts';

describe.each(adapters)('on $adapter', ({ serve, listen, source }) => {
  const post = (body: string, length = body.length) =>
    `POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n${body}`;
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

  describe('a request', () => {
    it('can be read after the handler has returned', async () => {
      const listening = await listen(async (request) => {
        await new Promise(setImmediate);
        const headers = Object.fromEntries(request.headers());
        return ok(
          JSON.stringify([
            request.method,
            request.path,
            request.query,
            request.header('x-a'),
            headers['x-a'],
            request.header('none'),
          ]),
        );
      });
      const { socket, text: received } = await dial(listening);
      socket.write('GET /a%20b?c=%20d HTTP/1.1\r\nHost: x\r\nX-A: 1\r\n\r\n');
      await until(() => expect(received()).toContain(`["GET","/a%20b","c=%20d","1","1",null]`));
    });

    it('gives header values as Latin-1, as Node does', async () => {
      const listening = await listen(async (request) =>
        ok(JSON.stringify([request.header('x'), ...request.headers()])),
      );
      const { socket, text: received } = await dial(listening);
      socket.write(Buffer.from('GET / HTTP/1.1\r\nHost: x\r\nX: a\xfcb\xc3\xbcc\r\n\r\n', 'latin1'));
      await until(() => expect(received()).toContain('["aübÃ¼c",["host","x"],["x","aübÃ¼c"]]'));
    });

    it.each(['at once', 'later'])('gives its body, asked for %s, however it is cut', async (when) => {
      const listening = await listen(async (request) => {
        if (when === 'later') await new Promise((resolve) => setTimeout(resolve, 20));
        return ok(`<${text(await request.body(100))}>`);
      });
      const { socket, text: received } = await dial(listening);
      // Its head in one piece: a request line that is cut is answered 505 (uWebSockets.js 20).
      for (const piece of [post('', 5), 'he', 'l', 'lo']) {
        socket.write(piece);
        await new Promise(setImmediate);
      }
      await until(() => expect(received()).toContain('<hello>'));
      socket.write(post(''));
      await until(() => expect(received()).toContain('<>'));
    });

    it.each([
      ['declared', post('x'.repeat(50))],
      [
        'chunked',
        `POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n32\r\n${'x'.repeat(50)}\r\n0\r\n\r\n`,
      ],
    ])('rejects a %s body that is too large', async (_how, wire) => {
      const listening = await listen((request) =>
        request.body(49).then(
          () => ok(),
          (error: unknown) => ({ ...ok(String(error instanceof BodyTooLargeError)), status: 413 }),
        ),
      );
      const { socket, text: received } = await dial(listening);
      socket.write(wire);
      await until(() => expect(received()).toMatch(/^HTTP\/1\.1 413 .*true$/s));
    });

    it('is answered, and the connection kept, where its body is not read', async () => {
      const listening = await listen(({ path }) => ok(path));
      const { socket, text: received } = await dial(listening);
      socket.write(post('x'.repeat(300_000)));
      await until(() => expect(received()).toContain('\r\n\r\n/p'));
      socket.write(get('/next'));
      await until(() => expect(received()).toContain('\r\n\r\n/next'));
    });

    it('with Expect: 100-continue is answered before its body is sent', async () => {
      const listening = await listen(() => ({ ...ok('no'), status: 401 }));
      const { socket, text: received } = await dial(listening);
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n');
      await until(() => expect(received()).toMatch(/HTTP\/1\.1 401 .*no$/s));
    });

    it('has no body any more where it was answered before its body was read', async () => {
      let body: Promise<unknown> | undefined;
      const listening = await listen((request) => {
        setTimeout(() => {
          body = request.body(10);
        }, 10);
        return ok('answered');
      });
      const { socket, text: received } = await dial(listening);
      // Too much to be waited for first.
      socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 20000\r\n\r\n${'x'.repeat(20_000)}`);
      await until(() => expect(received()).toContain('answered'));
      await until(() => expect(body).toBeDefined());
      await expect(body).rejects.toThrow('answered');
    });
  });

  describe('a chunked body that is rejected early', () => {
    it('is taken to its end, so that its client sees the answer and not a reset', async () => {
      const listening = await listen(() => ({ ...ok('no'), status: 413 }));
      const { socket, text: received, closed } = await dial(listening);
      socket.write('POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
      for (let sent = 0; sent < 12; sent += 1) {
        socket.write(`10000\r\n${'x'.repeat(0x10000)}\r\n`);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      expect(received()).toBe('');
      socket.write('0\r\n\r\n');
      await closed;
      expect(received()).toMatch(/^HTTP\/1\.1 413 .*no$/s);
    });
  });

  describe('a client that goes away', () => {
    it.each<[when: string, wire: string]>([
      ['during a call', get('/')],
      // A small one is received before the request is handled.
      ['in the middle of a body', post('half', 20_000)],
    ])('%s aborts the signal, and nothing is written', async (_when, wire) => {
      let request: HttpRequest | undefined;
      let outcome = '';
      const listening = await listen(async (received) => {
        request = received;
        await received.body(100_000).catch((error: unknown) => (outcome = String(error)));
        const { signal } = received;
        if (!signal.aborted) await once(signal, 'abort');
        return ok('too late');
      });
      const { socket } = await dial(listening);
      socket.write(wire);
      await until(() => expect(request).toBeDefined());
      socket.destroy();
      await until(() => expect(request?.signal.aborted).toBe(true));
      expect(outcome).toBe(wire.includes('half') ? 'AbortError: The client went away.' : '');
      expect(await listening.close()).toBe(0);
    });
  });

  it('a signal that is first read after the client went away is aborted', async () => {
    let request: HttpRequest | undefined;
    const listening = await listen((received) => {
      request = received;
      return new Promise(() => {});
    });
    const { socket } = await dial(listening);
    socket.write(get('/'));
    await until(() => expect(request).toBeDefined());
    socket.destroy();
    await until(() => expect(request?.isAborted).toBe(true));
    expect(request?.signal).toMatchObject({
      aborted: true,
      reason: { name: 'AbortError', message: 'The client went away.' },
    });
  });

  describe('a response', () => {
    it.each<[what: string, response: HttpResponse, method: string, expected: RegExp]>([
      [
        'a body of text',
        { status: 201, headers: [['X-A', 'ü']], body: 'é' },
        'GET',
        /^HTTP\/1\.1 201 Created\r\nX-A: ü\r\n.*Content-Length: 2\r\n\r\né$/s,
      ],
      ['a body of bytes', ok(new Uint8Array([104, 105])), 'GET', /Content-Length: 2\r\n\r\nhi$/],
      ['no body', ok(), 'GET', /Content-Length: 0\r\n\r\n$/],
      [
        'a 204',
        { status: 204, headers: [] },
        'GET',
        /^HTTP\/1\.1 204 No Content\r\n(?!.*content-length).*\r\n\r\n$/is,
      ],
      ['a HEAD', ok('hello'), 'HEAD', /content-length: 5\r\n(?!.*content-length).*\r\n$/is],
      [
        'a header that would start another',
        { status: 200, headers: [['x', 'a\r\nb: c']], body: 'x' },
        'GET',
        /^HTTP\/1\.1 500 (?!.*b: c)/s,
      ],
    ])('with %s is written as it should be, at once and later', async (_what, response, method, expected) => {
      for (const handle of [() => response, async () => response]) {
        const { socket, text: received } = await dial(await listen(handle));
        socket.write(`${method} / HTTP/1.1\r\nHost: x\r\n\r\n`);
        await until(() => expect(received()).toMatch(expected));
        expect(received().match(/HTTP\/1\.1/g)).toHaveLength(1);
      }
    });

    it('is 500, and the process lives, where a handler throws', async () => {
      const broken: Handle[] = [
        () => {
          throw new Error('no');
        },
        () => Promise.reject(new Error('no')),
      ];
      for (const handle of broken) {
        const { socket, text: received } = await dial(await listen(handle));
        socket.write(get('/'));
        await until(() => expect(received()).toMatch(/^HTTP\/1\.1 500 .*"INTERNAL_SERVER_ERROR"/s));
      }
    });
  });

  describe('close', () => {
    it('takes no new connection, finishes what is in flight with "Connection: close", then ends', async () => {
      let finish: (() => void) | undefined;
      const listening = await listen(() => new Promise((resolve) => (finish = () => resolve(ok('done')))));
      const { socket, text: received, closed } = await dial(listening);
      socket.write(get('/'));
      await until(() => expect(finish).toBeDefined());
      const closes = listening.close({ deadlineMs: 5000 });
      const refused = connect(listening.port, '127.0.0.1');
      await expect(once(refused, 'connect')).rejects.toThrow('ECONNREFUSED');
      finish?.();
      expect(await closes).toBe(0);
      await closed;
      expect(received()).toMatch(/\r\nConnection: close\r\n.*done$/s);
    });

    it.each<[what: string, method: string, response: HttpResponse]>([
      ['a HEAD request', 'HEAD', ok('done')],
      ['a request whose answer is a 204', 'DELETE', { status: 204, headers: [] }],
    ])('a server that stops answers %s with "Connection: close"', async (_what, method, response) => {
      const answer = Promise.withResolvers<HttpResponse>();
      const listening = await listen(() => answer.promise);
      const { socket, text: received } = await dial(listening);
      socket.write(`${method} / HTTP/1.1\r\nHost: x\r\n\r\n`);
      await until(() => expect(listening.inFlight()).toBe(1));
      const closes = listening.close({ graceMs: 10 });
      answer.resolve(response);
      await until(() => expect(received()).toMatch(/\r\nConnection: close\r\n(?:.*\r\n)?\r\n$/is));
      expect(await closes).toBe(0);
    });

    it('cuts off what is still in flight at the deadline, and says how many', async () => {
      let isCalled = false;
      const listening = await listen(() => {
        isCalled = true;
        return new Promise(() => {});
      });
      const { socket, closed } = await dial(listening);
      socket.write(get('/'));
      await until(() => expect(isCalled).toBe(true));
      expect(await listening.close({ deadlineMs: 50 })).toBe(1);
      await closed;
    });
  });

  describe('a stop', () => {
    it('ends a stream that begins while the server drains, in order', async () => {
      const response = Promise.withResolvers<HttpResponse>();
      let end = () => {};
      const ended = new Promise<void>((resolve) => (end = resolve));
      const events = (async function* () {
        yield new Uint8Array([97]);
        await ended;
        yield new Uint8Array([98]);
      })();
      const listening = await listen(() => response.promise);
      const { socket, text: received, closed } = await dial(listening);
      socket.write(get('/'));
      await until(() => expect(listening.inFlight()).toBe(1));
      const closes = listening.close({ graceMs: 10 });
      response.resolve(ok(Object.assign(events, { end })));
      await until(() => expect(received()).toMatch(/\r\n\r\n(?:1\r\na\r\n1\r\nb|2\r\nab)\r\n0\r\n\r\n$/));
      expect(await closes).toBe(0);
      await closed;
    });

    it('is waited for, though nothing else keeps the process', async () => {
      const script = `
        import { serve } from '${new URL(source, import.meta.url).href}';
        const listening = await serve({ handle: () => new Promise(() => {}) });
        const client = new AbortController();
        fetch('http://127.0.0.1:' + listening.port, { signal: client.signal }).catch(() => {});
        while (listening.inFlight() === 0) await new Promise(setImmediate);
        client.abort();
        console.log(await listening.close({ graceMs: 10, deadlineMs: 50 }));
      `;
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
      expect(stdout).toBe('1\n');
    });

    it('answers further requests on open connections with Connection: close, and resets none', async () => {
      const listening = await listen(async () => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        return ok('x');
      });
      const lost: string[] = [];
      const send = async () => {
        const { socket, text: received } = await dial(listening);
        for (let responses = 1; ; responses += 1) {
          socket.write(get('/'));
          try {
            await until(() => expect(received().match(/HTTP\/1\.1 200/g)).toHaveLength(responses));
          } catch {
            lost.push(received());
            return;
          }
          if (/connection: close/i.test(received())) {
            socket.end();
            return;
          }
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
      };
      const clients = Array.from({ length: 16 }, send);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(await listening.close()).toBe(0);
      await Promise.all(clients);
      expect(lost).toEqual([]);
    });

    it('answers what has arrived when the grace is over, though the process was too busy to read it', async () => {
      const listening = await listen(async () => ok('in time'));
      const { socket, text: received, closed } = await dial(listening);
      await until(() => expect(listening.connections().http).toBe(1));
      // Behind a setImmediate the event loop begins a turn with its timers: all that follows is one turn, however long
      // it takes, and the grace is over before what was sent is read.
      await new Promise(setImmediate);
      const closes = listening.close({ graceMs: 50 });
      socket.write(get('/'));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
      await closed;
      expect(received()).toMatch(/\r\nConnection: close\r\n.*in time$/is);
      expect(await closes).toBe(0);
    });

    it.each(['at once', 'later'])('waits until a large answer that is given %s is out', async (when) => {
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
    });
  });

  describe('what a host is given that cannot be written', () => {
    it.each<[what: string, response: unknown]>([
      ['a header value that is a number', { status: 200, headers: [['x', 5]] }],
      ['a header name that is no token', { status: 200, headers: [['a b', 'x']] }],
      ['a header name that is no string', { status: 200, headers: [[['x'], 'x']] }],
      ['a shared header that would start another', { ...ok(), sharedHeaders: [['x', 'a\r\nb: c']] }],
      ['headers of null', { status: 200, headers: null }],
      ['a status that is no string either', { status: Symbol('ok'), headers: [] }],
      ['a status that would start a header', { status: '200 OK\r\nb: c', headers: [] }],
      ['a status that is none', { status: 20, headers: [] }],
      ['status 100, which ends no request', { status: 100, headers: [] }],
      ['status 101, which ends no request', { status: 101, headers: [] }],
      ['status 199, which ends no request', { status: 199, headers: [] }],
      ['nothing at all', undefined],
      ['a header that frames the message', { status: 200, headers: [['Content-Length', '5']], body: 'x' }],
      ['a body of null', { status: 200, headers: [], body: null }],
      ['a body that is an object', { status: 200, headers: [], body: { a: 1 } }],
    ])('%s is a 500, and the process lives', async (_what, response) => {
      for (const handle of [() => response, async () => response] as Handle[]) {
        const { socket, text: received } = await dial(await listen(handle));
        socket.write(get('/'));
        await until(() => expect(received()).toMatch(/^HTTP\/1\.1 500 /));
      }
    });
  });

  it('a stream that yields what cannot be written is ended, and its connection closed', async () => {
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

  describe('serve says in one sentence why it cannot listen', () => {
    it('on a port that another server has, of Node or of uWebSockets.js', async () => {
      const other = createServer();
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => {
        other.close();
      });
      const address = other.address();
      const ports = [typeof address === 'object' ? address?.port : 0, (await listen(() => ok())).port];
      for (const port of ports) {
        await expect(serve({ handle: () => ok() }, { port: port ?? 0 })).rejects.toMatchObject({
          code: 'in-use',
          message: expect.stringContaining(`Port ${port}`),
        });
      }
    });

    it('and not on a port whose last server, told to pick one, closed its connections a moment ago', async () => {
      const listening = await listen(() => new Promise(() => {}));
      const { socket, closed } = await dial(listening);
      socket.write(get('/'));
      await until(() => expect(listening.inFlight()).toBe(1));
      await listening.close({ deadlineMs: 0 });
      await closed;
      const next = await serve({ handle: () => ok() }, { port: listening.port });
      await next.close();
    });

    it('on an address that is not this machine’s', async () => {
      await expect(serve({ handle: () => ok() }, { host: '192.0.2.1' })).rejects.toMatchObject({
        code: 'no-address',
      });
    });
  });

  describe('an option of serve', () => {
    it.each([
      ['maxUrlBytes', 0],
      ['maxUrlBytes', Infinity],
      ['maxHeaderBytes', 1.5],
      ['maxConnections', -1],
      ['maxConnections', Number.NaN],
      ['maxUnsentBytes', 0],
      ['maxUnsentSocketBytes', 0.5],
    ])('%s: %s is rejected by its name', async (name, value) => {
      await expect(serve({ handle: () => ok() }, { [name]: value })).rejects.toThrow(
        `The option ${name} of serve is ${value}; it must be a positive integer.`,
      );
    });

    it.each([70_000, -1, 1.5, Number.NaN, '80'])('port: %s is rejected by its name', async (port) => {
      await expect(serve({ handle: () => ok() }, { port: port as number })).rejects.toThrow(
        `port is ${typeof port === 'string' ? '"80"' : port}; it must be a whole number from 0 to 65535.`,
      );
    });

    it('that is unknown is rejected with the nearest name', async () => {
      const options: object = { hostname: '0.0.0.0', maxConnection: 1 };
      await expect(serve({ handle: () => ok() }, options)).rejects.toThrow(
        '"hostname" is not an option of serve; did you mean "host"?\n"maxConnection" is not an option of serve; did you mean "maxConnections"?',
      );
    });

    it('is not looked at where the gateway is still a promise', async () => {
      const gateway = Promise.resolve({ handle: () => ok() }) as never;
      await expect(serve(gateway)).rejects.toThrow(
        'serve takes a gateway, not a promise: serve(await createGateway({ … })).',
      );
    });

    it('may lift the limits of the whole server', async () => {
      const lifted = { maxConnections: Infinity, maxUnsentBytes: Infinity, maxUnsentSocketBytes: Infinity };
      expect((await listen(() => ok(), lifted)).port).toBeGreaterThan(0);
    });
  });
});
