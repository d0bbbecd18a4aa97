import ipaddr from 'ipaddr.js';
import { GatewayError } from '../procedures/gatewayError.ts';
import type { HttpRequest } from '../http/request.ts';

const { IPv4, IPv6 } = ipaddr;

type Address = ReturnType<typeof ipaddr.process>;

/**
 * Whose request it is, by network address: an IPv4 address, or the /64 network of an IPv6 address, since a single
 * customer has all of that. `''` where the client is gone. The answer is kept with the request: a WebSocket's is asked
 * for first while it is opened, and later the host does not know it any more.
 */
export type ClientAddress = (request: HttpRequest) => string;

/**
 * @param trustProxy addresses and CIDR ranges of the proxies whose `X-Forwarded-For` counts
 * @throws {GatewayError} where one of them is neither
 */
export function createClientAddress(trustProxy: readonly string[]): ClientAddress {
  const trusted = trustProxy.map(parseRange);
  const isTrusted = (address: Address) =>
    trusted.some(([range, bits]) => address.kind() === range.kind() && address.match(range, bits));
  const known = new WeakMap<HttpRequest, string>();

  function find(request: HttpRequest): string {
    let client = parseAddress(request.remoteAddress());
    if (client === undefined) return '';
    if (trusted.length > 0 && isTrusted(client)) {
      // Each proxy appends whom it talked to: from the end back, all is true as long as proxies of ours have written it.
      for (const hop of forwardedFor(request).toReversed()) {
        const address = parseAddress(hop);
        if (address === undefined) break;
        client = address;
        if (!isTrusted(address)) break;
      }
    }
    return network(client);
  }

  return (request) => {
    const found = known.get(request);
    if (found !== undefined) return found;
    const address = find(request);
    known.set(request, address);
    return address;
  };
}

/** The addresses of `X-Forwarded-For`. Some proxies append to the header that came, others add one of their own. */
function forwardedFor(request: HttpRequest): string[] {
  const hops: string[] = [];
  for (const [name, value] of request.headers()) {
    if (name === 'x-forwarded-for') hops.push(...value.split(','));
  }
  return hops;
}

/** An address, also as some proxies write it: with a port. IPv4 within IPv6 is IPv4. */
function parseAddress(text: string): Address | undefined {
  const bare = text.trim().replace(/^\[(.*)\](?::\d+)?$|^([\d.]+):\d+$/, '$1$2');
  // Four parts: 10 is 0.0.0.10 to who takes fewer, and 0x7f is 0.0.0.127.
  return IPv4.isValidFourPartDecimal(bare) || IPv6.isValid(bare) ? ipaddr.process(bare) : undefined;
}

function parseRange(text: string): [Address, number] {
  const address = parseAddress(text);
  if (address !== undefined) return [address, address.kind() === 'ipv4' ? 32 : 128];
  if (IPv4.isValidCIDRFourPartDecimal(text)) return IPv4.parseCIDR(text);
  if (IPv6.isValidCIDR(text)) {
    const [range, bits] = IPv6.parseCIDR(text);
    // IPv4 within IPv6 would match nothing: such clients are taken for the IPv4 that they are.
    if (!range.isIPv4MappedAddress()) return [range, bits];
  }
  throw new GatewayError(
    `trustProxy names "${text}", which is neither an address nor a range: ` +
      'write 10.0.0.1 or 10.0.0.0/8, of IPv6 2001:db8::1 or 2001:db8::/32.',
  );
}

const network = (address: Address) =>
  'parts' in address
    ? `${address.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')}::/64`
    : address.toString();
