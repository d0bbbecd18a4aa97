import { generateKeyPairSync, sign } from 'node:crypto';

/** An element of DER (X.690): its tag, its length, its content. */
function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  // As short as it can be: BoringSSL takes no other.
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
const sequence = (...contents: readonly Uint8Array[]) => der(0x30, ...contents);
const ecdsaWithSha256 = sequence(Buffer.from('06082a8648ce3d040302', 'hex'));
const commonName = Buffer.from('0603550403', 'hex');

const pem = (label: string, bytes: Buffer) =>
  `-----BEGIN ${label}-----\n${bytes.toString('base64').replaceAll(/.{1,64}/g, '$&\n')}-----END ${label}-----\n`;

/** A certificate of version 1 (RFC 5280 §4.1) that signs itself, and its key, both in PEM: for tests, so that none lies about. */
export function selfSigned(name: string): { readonly cert: string; readonly key: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const names = sequence(der(0x31, sequence(commonName, der(0x0c, Buffer.from(name)))));
  const times = sequence(der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('491231235959Z')));
  const serial = der(0x02, Buffer.from([1]));
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const signed = sequence(serial, ecdsaWithSha256, names, times, names, spki);
  const signature = der(0x03, Buffer.from([0]), sign('sha256', signed, privateKey));
  return {
    cert: pem('CERTIFICATE', sequence(signed, ecdsaWithSha256, signature)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
