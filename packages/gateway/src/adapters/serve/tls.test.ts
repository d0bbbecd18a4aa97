import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { adapters, dial, get, ok } from './testing/dial.ts';
import { selfSigned } from '@petstore/testing/selfSigned';
import { certificateFiles, dialTls, send } from './testing/tls.ts';
import type { TlsFiles } from './tlsFiles.ts';

describe.each(adapters)('on $adapter', ({ serve, listen }) => {
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

  it.each<[what: string, breakFiles: (tls: TlsFiles) => Promise<void>, message: RegExp]>([
    [
      'is missing',
      ({ certFile }) => rm(certFile),
      /^\/.*cert\.pem cannot be read as PEM of a certificate: ENOENT/,
    ],
    [
      'is not a certificate',
      ({ certFile }) => writeFile(certFile, 'x'),
      /cert\.pem cannot be read as PEM of a certificate: /,
    ],
    [
      'has an invalid key',
      ({ keyFile }) => writeFile(keyFile, 'x'),
      /key\.pem cannot be read as PEM of the private key/,
    ],
    [
      'has the key of another certificate',
      ({ keyFile }) => writeFile(keyFile, selfSigned('other').key),
      /key\.pem cannot be read as PEM of the private key, without a passphrase, of .*cert\.pem: the certificate has another key\.$/,
    ],
  ])('serve rejects a certificate that %s', async (_what, breakFiles, message) => {
    const tls = await certificateFiles('good');
    await breakFiles(tls);
    const error = { name: 'CertificateError', message: expect.stringMatching(message) };
    await expect(serve({ handle: () => ok() }, { tls })).rejects.toMatchObject(error);
  });
});
