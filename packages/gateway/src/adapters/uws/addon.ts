import type * as Uws from 'uWebSockets.js';

/**
 * Size of a request head, in bytes, from which on uWebSockets.js itself rejects the request, with an HTML body. It is
 * higher than the default limits of `serve`, which reject with JSON.
 */
const parserHeadBytes = 49_152;

/** Thrown by the import of `trpc-gateway/uws` if there is no binary. The message names the fixes. */
class NoBinaryError extends Error {
  override readonly name = 'NoBinaryError';
  readonly code = 'no-binary';

  constructor(options: ErrorOptions) {
    super(
      `No uWebSockets.js binary is installed for Node ${process.version} on ${process.platform}-${process.arch}. If this is Node 22 and npm ran on an older Node, which leaves the binaries out, run npm install again with this one. Otherwise, serve with "trpc-gateway/node", run Node 22 on Linux (glibc), macOS or Windows, or install the official build, which has binaries for Node 22, 24 and 26: add "overrides": { "uWebSockets.js": "github:uNetworking/uWebSockets.js#v20.69.0" } to package.json and, for npm 12 or newer, allow-git=all to .npmrc.`,
      options,
    );
  }
}

// The addon reads this once, when it is loaded. Its default of 4,096 bytes is too low for tRPC's batched GET requests.
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(parserHeadBytes);

/**
 * The addon. The dependency is optional, and it may have no binary for this version of Node, operating system or libc.
 */
export const uws: typeof Uws = await import('uWebSockets.js').catch((cause: unknown) => {
  throw new NoBinaryError({ cause });
});
