export { ListenError } from '../serve/listenError.ts';
export { reservePort, type ReservedPort } from '../serve/reservePort.ts';
export type { CloseOptions, Listening, ServeOptions } from '../serve/serveOptions.ts';
export { CertificateError, type TlsFiles } from '../serve/tlsFiles.ts';
export { handleUpgrades, type Upgrades } from './handleUpgrades.ts';
export { nodeHandler, type NodeHandler } from './nodeHandler.ts';
export { serve } from './serve.ts';
export { temporaryFiles, temporaryPath } from './temporaryFiles.ts';
