import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { WebSocketPeer, SocketHandler } from '../../http/webSocket.ts';
import { type Listening } from './serve.ts';
import { ok, until } from '../server/testing/dial.ts';
import { listen } from './testing/listen.ts';
import { selfSigned } from '@petstore/testing/selfSigned';
import type { TlsFiles } from '../server/tlsFiles.ts';

async function files(name: string): Promise<TlsFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-tls-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const tls = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
  await write(tls, name);
  return tls;
}

async function write({ certFile, keyFile }: TlsFiles, name: string): Promise<void> {
  const { cert, key } = selfSigned(name);
  await writeFile(certFile, cert);
  await writeFile(keyFile, key);
}

/** Connects, and gives the name that the server shows. */
async function greet({ port }: Listening): Promise<{ readonly socket: TLSSocket; readonly name: string }> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  onTestFinished(() => {
    socket.destroy();
  });
  await once(socket, 'secureConnect');
  return { socket, name: String(socket.getPeerCertificate().subject.CN) };
}

describe('a WebSocket over TLS', () => {
  it('has the limit of its kind, before its certificate is replaced and after', async () => {
    const tls = await files('one');
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
      const { socket } = await greet(listening);
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
      await write(tls, name);
      await listening.reloadCertificate();
      expect([name, await said('now'), await said('later')]).toEqual([name, 'echoed', 'closed']);
    }
  });
});
