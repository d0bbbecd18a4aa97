import { TRPCError } from '@trpc/server';
import { isLoopbackName } from '../auth/origins.ts';
import type { Policy } from '../calls/policy.ts';

/**
 * Admits only requests whose `Host` is this machine, and whose `Origin`, if any, is too, since the router may check no
 * credential here: any page that a developer visits can send to 127.0.0.1 (CSRF), or under a name of its own in `Host`
 * (DNS rebinding). Other programs send no `Origin`.
 */
export const loopbackOnly: Policy = {
  before: 'authentication',
  admit({ request }) {
    const host = request.header('host');
    const origin = request.header('origin');
    if (!isLoopback(`http://${host}`)) return rejection('Host', host);
    return origin === undefined || isLoopback(origin) ? undefined : rejection('Origin', origin);
  },
};

function isLoopback(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && isLoopbackName(url.hostname);
}

const rejection = (header: string, value: string | undefined) =>
  new TRPCError({
    code: 'FORBIDDEN',
    message: `trpc-gateway serve is for this machine alone: ${header} is ${value}; it must be localhost, 127.0.0.1 or [::1]. Open the URL that the command has printed, let a proxy or tunnel send Host: localhost, or write a server of your own.`,
  });
