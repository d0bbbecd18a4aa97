import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { selfSigned } from '@petstore/testing/selfSigned';
import { onTestFinished } from 'vitest';
import type { Listening } from '../serveOptions.ts';
import type { TlsFiles } from '../tlsFiles.ts';
import { get } from './dial.ts';

/** Creates the files of a self-signed certificate for the duration of the running test. */
export async function certificateFiles(name: string): Promise<TlsFiles> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-tls-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const tls = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
  await writeCertificate(tls, name);
  return tls;
}

export async function writeCertificate({ certFile, keyFile }: TlsFiles, name: string): Promise<void> {
  const { cert, key } = selfSigned(name);
  await writeFile(certFile, cert);
  await writeFile(keyFile, key);
}

/** Connects over TLS. Returns the socket and the common name in the server's certificate. */
export async function dialTls({
  port,
}: Listening): Promise<{ readonly socket: TLSSocket; readonly name: string }> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  onTestFinished(() => {
    socket.destroy();
  });
  await once(socket, 'secureConnect');
  return { socket, name: String(socket.getPeerCertificate().subject.CN) };
}

/** Sends a GET, and returns the first data of its response. */
export async function send(socket: TLSSocket): Promise<string> {
  socket.write(get('/'));
  const [data] = await once(socket, 'data');
  return String(data);
}
