import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { listenOn, ok } from '../serve/testing/dial.ts';
import { certificateFiles, dialTls, send, writeCertificate } from '../serve/testing/tls.ts';
import { serve } from './serve.ts';

const listen = listenOn(serve);

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

it('reloadCertificate rejects a certificate that cannot be used, and the previous one stays in use', async () => {
  const tls = await certificateFiles('good');
  const listening = await listen(() => ok('x'), { tls });
  await writeFile(tls.certFile, 'x');
  const error = {
    name: 'CertificateError',
    message: expect.stringMatching(/cert\.pem cannot be read as PEM of a certificate/),
  };
  await expect(listening.reloadCertificate()).rejects.toMatchObject(error);
  expect((await dialTls(listening)).name).toBe('good');
});
