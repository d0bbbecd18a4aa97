import { describe, expect, it, vi } from 'vitest';
import type { WebSocketPeer, SocketHandler } from '../../http/webSocket.ts';
import { ok, until } from '../server/testing/dial.ts';
import { listen } from './testing/listen.ts';
import { certificateFiles, dialTls, writeCertificate } from '../server/testing/tls.ts';

describe('a WebSocket over TLS', () => {
  it('has the limit of its kind, before its certificate is replaced and after', async () => {
    const tls = await certificateFiles('one');
    const listening = await listen(
      {
        handle: () => ok(),
        upgrade: ({ query }) =>
          Object.assign(
            (socket: WebSocketPeer): SocketHandler => ({
              inFlight: 0,
              message: (data) => socket.send(data.toString()),
              pinged: () => {},
              drained: () => {},
              limited: () => {},
              closed: async () => {},
              drain: () => {},
            }),
            { isUnauthenticated: query === 'later' },
          ),
        maxUnauthenticatedBytes: 10,
      },
      { tls },
    );
    /** What is said to a message of 20 bytes, under a mask of zeros. */
    const said = async (query: string) => {
      const { socket } = await dialTls(listening);
      socket.on('error', () => {});
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
      const closed = new Promise<string>((resolve) => socket.once('close', () => resolve('closed')));
      socket.write(
        `GET /?${query} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
      );
      await until(() => expect(text).toContain(' 101 '));
      socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | 20, 0, 0, 0, 0]), Buffer.from('x'.repeat(20))]));
      const echoed = vi.waitFor(() => {
        if (!text.includes('x'.repeat(20))) throw new Error('Nothing came.');
        return 'echoed';
      });
      return Promise.any([echoed, closed]);
    };
    for (const name of ['one', 'two']) {
      await writeCertificate(tls, name);
      await listening.reloadCertificate();
      expect([name, await said('now'), await said('later')]).toEqual([name, 'echoed', 'closed']);
    }
  });
});
