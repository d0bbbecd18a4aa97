// Exports shared by `/uws` and `/node`, for code that loads neither.
export { ListenError } from './listenError.ts';
export { reservePort, type ReservedPort } from './reservePort.ts';
export { type CloseOptions, type Listening, serveRules, type ServeOptions } from './serveOptions.ts';
export { CertificateError, type TlsFiles } from './tlsFiles.ts';
