// Exports shared by `/uws` and `/node`, for code that loads neither.
export { ListenError } from './listenError.ts';
export { reservePort, type ReservedPort } from './reservePort.ts';
export {
  checkOptions as checkServeOptions,
  type CloseOptions,
  type Listening,
  type ServeOptions,
} from './serveOptions.ts';
export { CertificateError, type TlsFiles } from './tlsFiles.ts';
// For other packages that check options, such as `run` of `@petstore/runtime`.
export { formatValue } from '../../http/formatValue.ts';
export { editDistance, memberNames, unknownOptions } from '../../http/unknownOptions.ts';
