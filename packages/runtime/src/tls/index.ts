export { type CertificateReloadOptions, reloadCertificates } from './certificateReload.ts';
