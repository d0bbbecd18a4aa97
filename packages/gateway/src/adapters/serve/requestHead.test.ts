import { describe, expect, it, vi } from 'vitest';
import { adapters, dial, ok, until } from '../testing/dial.ts';

it('the first request of a process is rejected if it has an empty Host and another one', async () => {
  // The module keeps the last valid Host of the process.
  vi.resetModules();
  const { RequestHead } = await import('./requestHead.ts');
  const head = new RequestHead();
  head.clear();
  head.add('host', '');
  head.add('host', 'x');
  expect(head.rejection('GET', '/', '', 1000)).toMatchObject({ status: 400 });
});

describe.each(adapters)('on $adapter', ({ adapter, listen }) => {
  /** Sends one request per value on one connection, in the header X, and returns the values that the server reads. */
  async function valuesRead(...values: string[]): Promise<(string | undefined)[]> {
    const read: (string | undefined)[] = [];
    const listening = await listen((request) => {
      read.push(request.header('x'));
      return ok();
    });
    const { socket } = await dial(listening);
    for (const [at, value] of values.entries()) {
      socket.write(Buffer.from(`GET / HTTP/1.1\r\nHost: x\r\nX: ${value}\r\n\r\n`, 'latin1'));
      await until(() => expect(read).toHaveLength(at + 1));
    }
    return read;
  }

  it('a header value does not depend on the values of earlier requests', async () => {
    expect(await valuesRead('a', 'a', 'b', '', 'a')).toEqual(['a', 'a', 'b', undefined, 'a']);
  });

  it('a header value whose UTF-8 decoding equals an earlier Latin-1 value is read correctly', async () => {
    const once = '-\xc3\xbc-';
    const twice = '-\xc3\x83\xc2\xbc-';
    expect(await valuesRead(once, twice, twice, once)).toEqual([once, twice, twice, once]);
  });

  it('a header value with a control character gets 400 each time', async () => {
    // Bun accepts DEL.
    const control = adapter === 'Bun' ? '\x01' : '\x7f';
    const requestText = `GET / HTTP/1.1\r\nHost: x\r\nX: a${control}b\r\n\r\n`;
    const listening = await listen(() => ok());
    for (let time = 0; time < 2; time += 1) {
      const { text, closed } = await dial(listening, requestText);
      await closed;
      expect(text()).toMatch(/^HTTP\/1\.1 400 /);
    }
  });
});
