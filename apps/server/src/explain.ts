import { CertificateError, ListenError } from '@petstore/gateway/listen';
import type { ListenerAddress } from '@petstore/runtime';
import { ConfigurationError } from './configuration.ts';

/**
 * Names the variables that fix what a start failed with. Other errors are returned as they are.
 * @param at the listener that could not listen
 */
export function explain(error: unknown, at?: ListenerAddress): unknown {
  const message = messageOf(error, at);
  return message === undefined ? error : new ConfigurationError(message, { cause: error });
}

function messageOf(error: unknown, at: ListenerAddress | undefined): string | undefined {
  if (error instanceof Error && error.name === 'NoBinaryError')
    return `SERVER is "uws": unset it to serve on node:http. ${error.message}`;
  if (error instanceof CertificateError) return `TLS_CERT and TLS_KEY cannot be served: ${error.message}`;
  if (!(error instanceof ListenError) || at === undefined) return undefined;
  const { host, port } = at;
  const prefix = at.listener === 'admin' ? 'ADMIN_' : '';
  const isAt = `${prefix}PORT is ${port} and ${prefix}HOST is ${host}`;
  switch (error.code) {
    case 'in-use':
      return `${isAt}, where another process listens: stop that one, or set ${prefix}PORT to another port.`;
    case 'forbidden':
      return `${isAt}, where this process may not listen: set ${prefix}PORT to a port above 1023.`;
    // no-address
    default:
      return `${prefix}HOST is ${host}, which is not an address of this machine: set it to one that is, such as 127.0.0.1 or 0.0.0.0.`;
  }
}
