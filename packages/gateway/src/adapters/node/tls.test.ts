import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { listenOn, ok } from '../serve/testing/dial.ts';
import { certificateFiles, dialTls, send, writeCertificate } from '../serve/testing/tls.ts';
import { serve } from './serve.ts';

const listen = listenOn(serve);

it('reloadCertificate uses the new certificate and keeps open connections, and keeps it if the next one cannot be used', async () => {
  const tls = await certificateFiles('old');
  const listening = await listen(() => ok('x'), { tls });
  const before = await dialTls(listening);
  await writeCertificate(tls, 'new');
  expect((await dialTls(listening)).name).toBe('old');
  await listening.reloadCertificate();
  expect((await dialTls(listening)).name).toBe('new');
  expect(await send(before.socket)).toContain('200 OK');
  await writeFile(tls.certFile, 'x');
  const error = {
    name: 'CertificateError',
    message: expect.stringMatching(/cert\.pem cannot be read as PEM of a certificate/),
  };
  await expect(listening.reloadCertificate()).rejects.toMatchObject(error);
  expect((await dialTls(listening)).name).toBe('new');
});
