import type * as Uws from 'uWebSockets.js';
import { ListenError } from '../server/listenError.ts';

/**
 * The size of a request's head, in bytes, from which uWebSockets.js rejects it by itself, in HTML. It is above the default
 * limits of `serve`, which reject in JSON.
 */
const parserHeadBytes = 49_152;

/**
 * Loads the addon, when a server starts.
 * @throws {ListenError} `no-binary`
 */
export async function loadUws(): Promise<typeof Uws> {
  // Read once, when the addon loads: by default it rejects heads over 4,096 bytes, and tRPC's batched GETs are longer.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(parserHeadBytes);
  try {
    return await import('uWebSockets.js');
  } catch (cause) {
    throw new ListenError('no-binary', '', 0, { cause });
  }
}
