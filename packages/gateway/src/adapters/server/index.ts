// What `/uws` and `/node` have in common, without either.
export { ListenError } from './listenError.ts';
export { reservePort, type ReservedPort } from './reservePort.ts';
export type { CloseOptions, Listening, ServeOptions } from './serveOptions.ts';
export { CertificateError, type TlsFiles } from './tlsFiles.ts';
