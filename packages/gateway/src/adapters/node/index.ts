export { ListenError } from '../server/listenError.ts';
export { reservePort, type ReservedPort } from '../server/reservePort.ts';
export type { CloseOptions, Listening, ServeOptions } from '../server/serveOptions.ts';
export { CertificateError, type TlsFiles } from '../server/tlsFiles.ts';
export { handleUpgrades, type Upgrades } from './handleUpgrades.ts';
export { nodeHandler, type NodeHandler } from './nodeHandler.ts';
export { serve } from './serve.ts';
export { temporaryFiles, temporaryPath } from './temporaryFiles.ts';
