import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { onTestFinished } from 'vitest';
import { selfSigned } from './selfSigned.ts';
import { temporaryFolder } from './temporaryFolder.ts';

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Creates the files of a self-signed certificate for the duration of the running test. */
export async function certificateFiles(name: string): Promise<CertificateFiles> {
  const folder = await temporaryFolder();
  const tls = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
  await writeCertificate(tls, name);
  return tls;
}

/** Replaces a certificate and its key. */
export async function writeCertificate({ certFile, keyFile }: CertificateFiles, name: string): Promise<void> {
  const { cert, key } = selfSigned(name);
  await writeFile(certFile, cert);
  await writeFile(keyFile, key);
}

/** Connects over TLS to a local port until the test ends. Returns the socket and the certificate's name. */
export async function dialTls({ port }: { readonly port: number | string }) {
  const socket = connect({ port: Number(port), host: '127.0.0.1', rejectUnauthorized: false });
  onTestFinished(() => void socket.destroy());
  await once(socket, 'secureConnect');
  return { socket, name: String(socket.getPeerCertificate().subject.CN) };
}
