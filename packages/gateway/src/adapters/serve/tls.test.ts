import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { adapters, dial, get, ok, sendGet } from '../testing/dial.ts';
import { certificateFiles, dialTls, writeCertificate } from '@petstore/testing/certificateFiles';
import { selfSigned } from '@petstore/testing/selfSigned';
import type { TlsFiles } from './tlsFiles.ts';

describe.each(adapters)('on $adapter', ({ adapter, serve, listen }) => {
  it('serve with tls accepts TLS 1.2 or newer', async () => {
    const listening = await listen(() => ok('safe'), { tls: await certificateFiles('one') });
    expect('reloadCertificate' in listening).toBe(adapter === 'node:http');
    const { socket, name } = await dialTls(listening);
    expect(name).toBe('one');
    expect(socket.getProtocol()).toBe('TLSv1.3');
    expect(await sendGet(socket)).toMatch(/^HTTP\/1\.1 200 .*safe$/s);
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
    const { text, closed } = await dial(listening, get('/'));
    await closed;
    expect(text()).not.toContain('safe');
  });

  it('serve with tls closes a connection over maxConnections', async () => {
    const listening = await listen(() => ok('x'), {
      tls: await certificateFiles('one'),
      maxConnections: 1,
    });
    await dialTls(listening);
    await expect(dialTls(listening)).rejects.toThrow(/socket|ECONNRESET/);
  });

  const ofKey = 'the private key, without a passphrase';
  it.each<[what: string, breakFiles: (tls: TlsFiles) => Promise<void>, file: string, reason: string]>([
    ['is missing', ({ certFile }) => rm(certFile), 'cert', 'a certificate: ENOENT'],
    ['is not a certificate', ({ certFile }) => writeFile(certFile, 'x'), 'cert', 'a certificate: '],
    ['has an invalid key', ({ keyFile }) => writeFile(keyFile, 'x'), 'key', ofKey],
    [
      'has the key of another certificate',
      ({ keyFile }) => writeFile(keyFile, selfSigned('other').key),
      'key',
      `${ofKey}, of /.*cert\\.pem: the certificate has another key\\.$`,
    ],
  ])('serve rejects a certificate that %s', async (_what, breakFiles, file, reason) => {
    const tls = await certificateFiles('good');
    await breakFiles(tls);
    const message = new RegExp(`^/.*${file}\\.pem cannot be read as PEM of ${reason}`);
    const error = { name: 'CertificateError', message: expect.stringMatching(message) };
    await expect(serve({ handle: () => ok() }, { tls })).rejects.toMatchObject(error);
  });

  it.runIf(adapter === 'node:http')(
    'reloadCertificate uses the new certificate and keeps open connections, and keeps it if the next one cannot be used',
    async () => {
      const tls = await certificateFiles('old');
      const listening = await listen(() => ok('x'), { tls });
      const before = await dialTls(listening);
      await writeCertificate(tls, 'new');
      expect((await dialTls(listening)).name).toBe('old');
      await listening.reloadCertificate?.();
      expect((await dialTls(listening)).name).toBe('new');
      expect(await sendGet(before.socket)).toContain('200 OK');
      await writeFile(tls.certFile, 'x');
      await expect(listening.reloadCertificate?.()).rejects.toThrow(/cert\.pem cannot be read as PEM/);
      expect((await dialTls(listening)).name).toBe('new');
    },
  );
});
