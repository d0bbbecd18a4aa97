import type * as Uws from 'uWebSockets.js';
import { ListenError } from './listenError.ts';

/**
 * Loads the addon, when somebody serves on it.
 * @throws {ListenError} `no-binary`
 */
export async function loadUws(): Promise<typeof Uws> {
  // Read once, when the addon loads: by default a head over 4,096 bytes is refused, and tRPC's batched GETs are longer.
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= '16384';
  try {
    return await import('uWebSockets.js');
  } catch (cause) {
    throw new ListenError('no-binary', '', 0, { cause });
  }
}
