import type * as Uws from 'uWebSockets.js';

/**
 * The size of a request's head, in bytes, from which uWebSockets.js rejects it by itself, in HTML. It is above the default
 * limits of `serve`, which reject in JSON.
 */
const parserHeadBytes = 49_152;

/** Thrown by the import of `@petstore/gateway/uws`. The message names the ways out. */
class NoBinaryError extends Error {
  override readonly name = 'NoBinaryError';
  readonly code = 'no-binary';

  constructor(options: ErrorOptions) {
    super(
      `No binary of uWebSockets.js is installed for Node ${process.version} on ${process.platform}-${process.arch}: ` +
        'serve with "@petstore/gateway/node" instead, run Node 22 on Linux (glibc), macOS or Windows, or install the ' +
        'official build, which has binaries for Node 22, 24 and 26, by "overrides": { "uWebSockets.js": ' +
        '"github:uNetworking/uWebSockets.js#v20.69.0" } in package.json and, from npm 12 on, allow-git=all in .npmrc.',
      options,
    );
  }
}

// Read once, when the addon loads: by default it rejects heads over 4,096 bytes, and tRPC's batched GETs are longer.
process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(parserHeadBytes);

/** The addon. The dependency is optional, and what is installed may have no binary for this Node, system or libc. */
export const uws: typeof Uws = await import('uWebSockets.js').catch((cause: unknown) => {
  throw new NoBinaryError({ cause });
});
