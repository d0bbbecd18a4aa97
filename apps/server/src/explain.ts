import { CertificateError, ListenError } from 'trpc-gateway/serve';
import type { ListenerAddress } from 'trpc-gateway-runtime';
import { errorText } from 'trpc-gateway-runtime/signals';
import { ConfigurationError } from './configuration/configuration.ts';

/** Errors with a message for operators. Identified by name, because importing the classes would load their modules. */
export const expectedErrors = ['CommandError', 'ConfigurationError', 'StoreError'];

/** Formats an error for operators: the message of an expected error, the stack of any other. */
export const formatError = (error: unknown): string => errorText(error, expectedErrors);

/** Names the variables to change in an error of the start, if it can. @param at the listener that failed */
export function explain(error: unknown, at?: ListenerAddress): unknown {
  const message = startErrorMessage(error, at);
  return message === undefined ? error : new ConfigurationError(message, { cause: error });
}

function startErrorMessage(error: unknown, at: ListenerAddress | undefined): string | undefined {
  if (error instanceof Error && error.name === 'NoBinaryError')
    return `SERVER is "uws", which cannot be loaded; unset it to serve on node:http. ${error.message}`;
  if (error instanceof CertificateError) return `TLS_CERT and TLS_KEY cannot be used: ${error.message}`;
  if (!(error instanceof ListenError) || at === undefined) return undefined;
  const { host, port } = at;
  const prefix = at.listener === 'admin' ? 'ADMIN_' : '';
  const settings = `${prefix}PORT is ${port} and ${prefix}HOST is ${host}`;
  switch (error.code) {
    case 'in-use':
      return `${settings}, where another process already listens. Stop that process, or set ${prefix}PORT to another port.`;
    case 'forbidden':
      return `${settings}, where this process is not permitted to listen. Set ${prefix}PORT to a port above 1023.`;
    // no-address
    default:
      return `${prefix}HOST is ${host}; it must be an address of this machine, such as 127.0.0.1 or 0.0.0.0.`;
  }
}
