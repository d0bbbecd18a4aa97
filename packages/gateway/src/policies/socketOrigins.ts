import type { HttpRequest } from '../http/request.ts';
import { originMatcher, type Origins } from './origins.ts';

/**
 * Whether a WebSocket may be opened: by any program, and by pages of these origins and of the server's own. Browsers ask
 * nobody before they open one to another site, and send its cookies along (RFC 6455 §10.2), so this is always checked.
 */
export type SocketOrigins = (request: HttpRequest) => boolean;

/** @param publicOrigin the server's own origin behind a proxy, which may have written another `Host` */
export function createSocketOrigins(origins: Origins, publicOrigin: string | undefined): SocketOrigins {
  const allows = originMatcher(origins);
  return (request) => {
    const origin = request.header('origin');
    if (origin === undefined || origin === publicOrigin || allows(origin, request)) return true;
    // Its host alone: whether a proxy in front was asked over TLS cannot be seen here.
    return URL.canParse(origin) && new URL(origin).host === request.header('host')?.toLowerCase();
  };
}
