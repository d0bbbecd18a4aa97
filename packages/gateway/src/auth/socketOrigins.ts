import type { HttpRequest } from '../http/request.ts';
import { originMatcher, type Origins } from './origins.ts';

/**
 * Whether a WebSocket may be opened: by any program that is not a browser, by pages of the allowed origins, and by the
 * server's own pages. It is always checked, because browsers open WebSockets to other sites without a preflight, and
 * send cookies with them (RFC 6455 §10.2).
 */
export type SocketOrigins = (request: HttpRequest) => boolean;

/** @param publicOrigin the server's own origin, for a proxy that changes `Host` */
export function createSocketOrigins(origins: Origins, publicOrigin: string | undefined): SocketOrigins {
  const allows = originMatcher(origins);
  return (request) => {
    const origin = request.header('origin');
    if (origin === undefined || origin === publicOrigin || allows(origin, request)) return true;
    // Compare only the host: the scheme that the client used with a proxy is unknown here.
    return URL.canParse(origin) && new URL(origin).host === request.header('host')?.toLowerCase();
  };
}
