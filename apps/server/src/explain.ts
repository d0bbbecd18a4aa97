import { CertificateError, ListenError } from '@petstore/gateway/listen';
import type { ListenerAddress } from '@petstore/runtime';
import { ConfigurationError } from './configuration.ts';

/**
 * Names the variables that fix what a start failed with. Other errors are returned as they are.
 * @param at the listener that could not listen
 */
export function explain(error: unknown, at?: ListenerAddress): unknown {
  if (error instanceof Error && error.name === 'NoBinaryError') {
    const message = `SERVER is "uws": unset it to serve on node:http. ${error.message}`;
    return new ConfigurationError(message, { cause: error });
  }
  if (error instanceof CertificateError) {
    return new ConfigurationError(`TLS_CERT and TLS_KEY cannot be served: ${error.message}`, {
      cause: error,
    });
  }
  if (!(error instanceof ListenError) || at === undefined) return error;
  const { host, port } = at;
  const prefix = at.listener === 'admin' ? 'ADMIN_' : '';
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
