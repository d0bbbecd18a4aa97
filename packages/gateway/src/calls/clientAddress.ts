import ipaddr from 'ipaddr.js';
import { GatewayError } from '../checks/gatewayError.ts';
import type { HttpRequest } from '../http/request.ts';
import { warn } from '../http/warnings.ts';

const { IPv4, IPv6 } = ipaddr;

type Address = ReturnType<typeof ipaddr.process>;

/**
 * Returns the address by which a client is counted: IPv4, or the /64 network of IPv6, which one customer usually has
 * whole. `''` after a disconnect. Remembered per request: adapters do not know the address of an open WebSocket.
 */
export type ClientAddress = (request: HttpRequest) => string;

/**
 * Creates the function that finds a client's address.
 * @param trustProxy addresses and CIDR ranges of the proxies whose `X-Forwarded-For` is trusted
 * @throws {GatewayError} for an entry that is neither an address nor a range
 */
export function createClientAddress(trustProxy: readonly string[]): ClientAddress {
  const trusted = trustProxy.map(parseRange);
  const isTrusted = (address: Address) =>
    trusted.some(([range, bits]) => address.kind() === range.kind() && address.match(range, bits));
  const addresses = new WeakMap<HttpRequest, string>();
  let hasWarned = false;

  /** Warns once. Without `trustProxy`, a missing address is usual, such as in tests. */
  function warnOf(address: string): void {
    if (hasWarned || (address === '' && trusted.length === 0)) return;
    hasWarned = true;
    const got = address === '' ? 'no' : `${JSON.stringify(address.slice(0, 64))} as the`;
    warn(
      `a request had ${got} address of its client: all such clients count as one, and X-Forwarded-For is not read. Pass the IP address of the connection: gateway.fetch(request, { remoteAddress }).`,
    );
  }

  function findAddress(request: HttpRequest): string {
    const received = request.remoteAddress();
    let client = parseAddress(received);
    if (client === undefined) {
      if (!request.isAborted) warnOf(received);
      return '';
    }
    if (trusted.length > 0 && isTrusted(client)) {
      // Backwards: each proxy appends its client's address, and an entry of a trusted proxy can be trusted.
      for (const hop of forwardedFor(request).toReversed()) {
        const address = parseAddress(hop);
        if (address === undefined) break;
        client = address;
        if (!isTrusted(address)) break;
      }
    }
    return networkOf(client);
  }

  return (request) => {
    const cachedAddress = addresses.get(request);
    if (cachedAddress !== undefined) return cachedAddress;
    const address = findAddress(request);
    addresses.set(request, address);
    return address;
  };
}

/** Returns the addresses of `X-Forwarded-For`. Some proxies extend the existing header, others add another one. */
function forwardedFor(request: HttpRequest): string[] {
  const hops: string[] = [];
  for (const [name, value] of request.headers()) {
    if (name === 'x-forwarded-for') hops.push(...value.split(','));
  }
  return hops;
}

/** Parses an address, with or without a port, which some proxies add. IPv4-mapped IPv6 addresses become IPv4. */
function parseAddress(text: string): Address | undefined {
  const bare = text.trim().replace(/^\[(.*)\](?::\d+)?$|^([\d.]+):\d+$/, '$1$2');
  // Require four decimal parts: other parsers read 10 as 0.0.0.10, and 0x7f as 0.0.0.127.
  return IPv4.isValidFourPartDecimal(bare) || IPv6.isValid(bare) ? ipaddr.process(bare) : undefined;
}

function parseRange(text: string): [Address, number] {
  const address = parseAddress(text);
  if (address !== undefined) return [address, address.kind() === 'ipv4' ? 32 : 128];
  if (IPv4.isValidCIDRFourPartDecimal(text)) return IPv4.parseCIDR(text);
  if (IPv6.isValidCIDR(text)) {
    const [range, bits] = IPv6.parseCIDR(text);
    // An IPv4-mapped range would match nothing, because mapped addresses are converted to IPv4.
    if (!range.isIPv4MappedAddress()) return [range, bits];
  }
  throw new GatewayError(
    `trustProxy contains "${text}", which is neither an IP address nor a range. Write an address, such as 10.0.0.1 or 2001:db8::1, or a range, such as 10.0.0.0/8 or 2001:db8::/32.`,
  );
}

const networkOf = (address: Address) =>
  address.kind() === 'ipv4'
    ? address.toString()
    : `${IPv6.networkAddressFromCIDR(`${address.toString()}/64`).toString()}/64`;
