import { describe, expect, it, vi } from 'vitest';
import type { WebSocketPeer, SocketHandler } from '../../http/webSocket.ts';
import { ok, until } from '../server/testing/dial.ts';
import { listen } from './testing/listen.ts';
import { certificateFiles, dialTls, writeCertificate } from '../server/testing/tls.ts';

describe('WebSockets over TLS', () => {
  it('maxUnauthenticatedBytes applies to WebSockets over TLS before and after reloadCertificate', async () => {
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
    /** Sends a message of 20 bytes, masked with zeros, and returns whether it is echoed or the connection is closed. */
    const sendMessage = async (query: string) => {
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
        if (!text.includes('x'.repeat(20))) throw new Error('No echo was received.');
        return 'echoed';
      });
      return Promise.any([echoed, closed]);
    };
    for (const name of ['one', 'two']) {
      await writeCertificate(tls, name);
      await listening.reloadCertificate();
      expect([name, await sendMessage('now'), await sendMessage('later')]).toEqual([
        name,
        'echoed',
        'closed',
      ]);
    }
  });
});
