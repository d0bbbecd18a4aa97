import { CertificateError, ListenError } from '@petstore/gateway/listen';
import { ConfigurationError } from './configuration.ts';

/**
 * What is thrown where the process cannot listen: it names the variables, where they can mend it.
 * @param error what it failed with; what no variable mends is given back
 * @param prefix before the names of the variables that say where
 */
export function listenFault(error: unknown, host: string, port: number, prefix: '' | 'ADMIN_' = ''): unknown {
  if (error instanceof CertificateError) {
    return new ConfigurationError(`TLS_CERT and TLS_KEY cannot be served: ${error.message}`, {
      cause: error,
    });
  }
  if (!(error instanceof ListenError)) return error;
  const isAt = `${prefix}PORT is ${port} and ${prefix}HOST is ${host}`;
  switch (error.code) {
    case 'in-use':
      return new ConfigurationError(
        `${isAt}, where another process listens: stop that one, or set ${prefix}PORT to another port.`,
        { cause: error },
      );
    case 'forbidden':
      return new ConfigurationError(
        `${isAt}, where this process may not listen: set ${prefix}PORT to a port above 1023.`,
        { cause: error },
      );
    // no-address
    default:
      return new ConfigurationError(
        `${prefix}HOST is ${host}, which is not an address of this machine: set it to one that is, such as 127.0.0.1 or 0.0.0.0.`,
        { cause: error },
      );
  }
}
