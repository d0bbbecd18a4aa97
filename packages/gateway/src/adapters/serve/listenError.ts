/**
 * Reason why a server cannot listen:
 * - `in-use`: another process listens on the port.
 * - `forbidden`: the process has no permission, as for ports below 1024.
 * - `no-address`: the address does not belong to this machine.
 */
export type ListenErrorCode = 'in-use' | 'forbidden' | 'no-address';

const listenErrorMessages: Record<ListenErrorCode, (host: string, port: number) => string> = {
  'in-use': (host, port) =>
    `Port ${port} on ${host} is already in use. Stop the process that listens there, or choose another port.`,
  forbidden: (host, port) =>
    `This process is not permitted to listen on port ${port} of ${host}. Choose a port above 1023.`,
  'no-address': (host) =>
    `${host} is not an address of this machine. Choose one that is, such as 127.0.0.1 or 0.0.0.0.`,
};

const codes: Record<string, ListenErrorCode> = { EADDRINUSE: 'in-use', EACCES: 'forbidden' };

/** Thrown if a server cannot listen. The message names the fix. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
  readonly code: ListenErrorCode;

  constructor(code: ListenErrorCode, host: string, port: number, options?: ErrorOptions) {
    super(listenErrorMessages[code](host, port), options);
    this.code = code;
  }

  static from(cause: NodeJS.ErrnoException, host: string, port: number): ListenError {
    return new ListenError(codes[cause.code ?? ''] ?? 'no-address', host, port, { cause });
  }
}
