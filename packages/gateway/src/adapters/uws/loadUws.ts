import type * as Uws from 'uWebSockets.js';
import { ListenError } from './listenError.ts';

/**
 * How large a whole head may be, in bytes, until uWebSockets.js refuses it by itself, in HTML. It is more than the limits
 * of `serve` allow by default, so that what they refuse is refused in JSON.
 */
const parserHeadBytes = 49_152;

/**
 * Loads the addon, when somebody serves on it.
 * @throws {ListenError} `no-binary`
 */
export async function loadUws(): Promise<typeof Uws> {
  // Read once, when the addon loads: by default a head over 4,096 bytes is refused, and tRPC's batched GETs are longer.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(parserHeadBytes);
  try {
    return await import('uWebSockets.js');
  } catch (cause) {
    throw new ListenError('no-binary', '', 0, { cause });
  }
}
