import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { adapters, dial, get, ok, until } from './testing/dial.ts';
import { selfSigned } from '@petstore/testing/selfSigned';
import { certificateFiles, dialTls, writeCertificate } from './testing/tls.ts';
import type { TlsFiles } from './tlsFiles.ts';

describe.each(adapters)('on $adapter', ({ serve, listen }) => {
  async function send(socket: TLSSocket): Promise<string> {
    socket.write(get('/'));
    const [data] = await once(socket, 'data');
    return String(data);
  }

  describe('serve over TLS', () => {
    it('serve with tls accepts TLS 1.2 or newer', async () => {
      const listening = await listen(() => ok('safe'), { tls: await certificateFiles('one') });
      const { socket, name } = await dialTls(listening);
      expect(name).toBe('one');
      expect(socket.getProtocol()).toBe('TLSv1.3');
      expect(await send(socket)).toMatch(/^HTTP\/1\.1 200 .*safe$/s);
      const old = connect({
        port: listening.port,
        host: '127.0.0.1',
        maxVersion: 'TLSv1.1',
        minVersion: 'TLSv1',
      });
      await expect(once(old, 'secureConnect')).rejects.toThrow(/version|protocol/i);
    });

    it('serve with tls closes a connection without TLS', async () => {
      const listening = await listen(() => ok('safe'), { tls: await certificateFiles('one') });
      const { socket, text, closed } = await dial(listening);
      socket.write(get('/'));
      await closed;
      expect(text()).not.toContain('safe');
    });

    it('reloadCertificate uses the new certificate and keeps open connections', async () => {
      const tls = await certificateFiles('old');
      const listening = await listen(() => ok('x'), { tls });
      const before = await dialTls(listening);
      await writeCertificate(tls, 'new');
      expect((await dialTls(listening)).name).toBe('old');
      await listening.reloadCertificate();
      expect((await dialTls(listening)).name).toBe('new');
      expect(await send(before.socket)).toContain('200 OK');
    });

    it('a second reloadCertificate uses only the newest certificate', async () => {
      const tls = await certificateFiles('first');
      const listening = await listen(() => ok('x'), { tls });
      for (const name of ['second', 'third']) {
        await writeCertificate(tls, name);
        await listening.reloadCertificate();
      }
      const names = await Promise.all(
        Array.from({ length: 20 }, async () => (await dialTls(listening)).name),
      );
      expect(new Set(names)).toEqual(new Set(['third']));
    });

    it('repeated reloadCertificate loses no connection', async () => {
      const tls = await certificateFiles('again');
      const listening = await listen(() => ok('x'), { tls });
      const state = { hasEnded: false };
      let responses = 0;
      const client = async () => {
        while (!state.hasEnded) {
          const { socket } = await dialTls(listening);
          expect(await send(socket)).toContain('200 OK');
          responses += 1;
          socket.destroy();
        }
      };
      const clients = Promise.all([client(), client(), client()]);
      for (let times = 0; times < 20; times += 1) await listening.reloadCertificate();
      state.hasEnded = true;
      await clients;
      expect(responses).toBeGreaterThan(3);
    });

    it('close closes the connections of all certificates', async () => {
      const tls = await certificateFiles('one');
      const listening = await serve({ handle: () => ok('x') }, { tls });
      const first = await dialTls(listening);
      await listening.reloadCertificate();
      const second = await dialTls(listening);
      let ended = 0;
      for (const { socket } of [first, second]) socket.resume().on('close', () => (ended += 1));
      expect(await listening.close({ deadlineMs: 50 })).toBe(0);
      // Earlier than uWS closes idle connections.
      await until(() => expect(ended).toBe(2));
    });

    it('serve with tls closes a connection over maxConnections', async () => {
      const listening = await listen(() => ok('x'), {
        tls: await certificateFiles('one'),
        maxConnections: 1,
      });
      await dialTls(listening);
      await expect(dialTls(listening)).rejects.toThrow(/socket|ECONNRESET/);
    });

    it('serve rejects an unreadable file with its absolute path', async () => {
      const { keyFile } = await certificateFiles('good');
      await expect(serve({ handle: () => ok() }, { tls: { certFile: 'no.pem', keyFile } })).rejects.toThrow(
        `${resolve('no.pem')} cannot be read: ENOENT.`,
      );
    });

    it.each<[what: string, breakFiles: (tls: TlsFiles) => Promise<void>, message: RegExp]>([
      ['is missing', ({ certFile }) => rm(certFile), /cert\.pem cannot be read: ENOENT\.$/],
      [
        'is not a certificate',
        ({ certFile }) => writeFile(certFile, 'x'),
        /cert\.pem contains no certificate in PEM format\.$/,
      ],
      ['has an invalid key', ({ keyFile }) => writeFile(keyFile, 'x'), /key\.pem contains no private key/],
      [
        'has the key of another certificate',
        ({ keyFile }) => writeFile(keyFile, selfSigned('other').key),
        /The private key in .*key\.pem does not match the certificate in .*cert\.pem\.$/,
      ],
    ])('serve and reloadCertificate reject a certificate that %s', async (_what, breakFiles, message) => {
      const tls = await certificateFiles('good');
      const listening = await listen(() => ok('x'), { tls });
      await breakFiles(tls);
      const error = { name: 'CertificateError', message: expect.stringMatching(message) };
      await expect(listening.reloadCertificate()).rejects.toMatchObject(error);
      await expect(serve({ handle: () => ok() }, { tls })).rejects.toMatchObject(error);
      // The server still uses the previous certificate.
      expect((await dialTls(listening)).name).toBe('good');
      await until(() => expect(listening.inFlight()).toBe(0));
    });
  });
});
