import { describe, expect, it, vi } from 'vitest';
import type { HttpRequest } from '../http/request.ts';
import { createClientAddress } from './clientAddress.ts';

const request = (peer: string, ...forwarded: string[]) =>
  ({
    remoteAddress: () => peer,
    headers: () => forwarded.map((value) => ['x-forwarded-for', value]),
  }) as Partial<HttpRequest> as HttpRequest;

const mappedLoopback = '0000:0000:0000:0000:0000:ffff:7f00:0001';

describe('createClientAddress', () => {
  it.each<[what: string, trusted: string, peer: string, forwarded: string | undefined, address: string]>([
    ['is the peer without trustProxy', '', '192.0.2.1', '203.0.113.9', '192.0.2.1'],
    ['is the peer if only another proxy is trusted', '10.0.0.1', '192.0.2.1', '203.0.113.9', '192.0.2.1'],
    ['is that which a trusted proxy reports', '10.0.0.0/8', '10.2.3.4', '203.0.113.9', '203.0.113.9'],
    ['is the last untrusted one', '10.0.0.0/8', '10.2.3.4', '1.1.1.1, 203.0.113.9 , 10.9.9.9', '203.0.113.9'],
    ['is the first one if all are trusted', '10.0.0.0/8', '10.1.1.1', '10.3.3.3, 10.2.2.2', '10.3.3.3'],
    ['is the proxy if it reports no valid address', '10.0.0.1', '10.0.0.1', 'unknown', '10.0.0.1'],
    // Entries further left may be written by the client.
    ['is the proxy if the last hop is invalid', '10.0.0.1', '10.0.0.1', '203.0.113.9, unknown', '10.0.0.1'],
    ['is the proxy without X-Forwarded-For', '10.0.0.1', '10.0.0.1', undefined, '10.0.0.1'],
    ['is the proxy if it reports a number', '10.0.0.1', '10.0.0.1', '7', '10.0.0.1'],
    ['is that which a proxy of an IPv6 range reports', '2001:db8::/32', '2001:db8::1', '7.7.7.7', '7.7.7.7'],
    ['is the peer if only its neighbour is trusted', '10.0.0.1', '10.0.0.2', '203.0.113.9', '10.0.0.2'],
    [
      'is the peer if its IPv6 neighbour is trusted',
      '2001:db8::1',
      '2001:db8::2',
      '7.7.7.7',
      '2001:db8::/64',
    ],
    ['is the proxy if it reports text after ]', '10.0.0.1', '10.0.0.1', '[2001:db8::1]x', '10.0.0.1'],
    ['is read from brackets', '::1', '::1', '[2001:db8::1]', '2001:db8::/64'],
    ['is read without its port', '10.0.0.1', '10.0.0.1', '203.0.113.9:4711', '203.0.113.9'],
    ['is read from brackets without its port', '::1', '::1', '[2001:db8::1]:80', '2001:db8::/64'],
    ['is an IPv6 network of 64 bits', '', '2001:0DB8:0000:0001:0:0:0:1', undefined, '2001:db8:0:1::/64'],
    ['is the IPv4 address of an IPv4-mapped one', '', '::ffff:192.0.2.1', undefined, '192.0.2.1'],
    ['is that which an IPv4-mapped proxy reports', '127.0.0.1', mappedLoopback, '203.0.113.9', '203.0.113.9'],
    ['is empty if the client has disconnected', '', '', undefined, ''],
  ])('the address of a client %s', (_what, trusted, peer, forwarded, address) => {
    const headers = forwarded === undefined ? [] : [forwarded];
    const addressOf = createClientAddress(trusted === '' ? [] : [trusted]);
    expect(addressOf(request(peer, ...headers))).toBe(address);
  });

  it('several X-Forwarded-For headers are read as if they were one', () => {
    const received = request('10.2.3.4', '1.1.1.1', '203.0.113.9');
    expect(createClientAddress(['10.0.0.0/8'])(received)).toBe('203.0.113.9');
  });

  it.each([
    ['without an address', ['10.0.0.1'], '', 'no'],
    ['whose address is none', [], '203.0.113.9, 10.0.0.1', '"203.0.113.9, 10.0.0.1" as the'],
  ])('requests %s are one line', (_what, trusted, peer, words) => {
    const addressOf = createClientAddress(trusted);
    expect([addressOf(request(peer)), addressOf(request(peer))]).toEqual(['', '']);
    expect(vi.spyOn(console, 'error').mock.calls.splice(0).flat()).toEqual([
      expect.stringContaining(`trpc-gateway: a request had ${words} address of its client`),
    ]);
  });

  it('the address of a request is remembered, because an adapter may not know it later', () => {
    const addresses = ['192.0.2.1', ''];
    const leaving = { ...request(''), remoteAddress: () => addresses.shift() ?? '' };
    const addressOf = createClientAddress([]);
    expect([addressOf(leaving), addressOf(leaving)]).toEqual(['192.0.2.1', '192.0.2.1']);
  });

  it.each(['10.0.0.0/33', 'proxy.local', '', '10', '0x7f', '010.0.0.1', '10/8', '::ffff:10.0.0.0/104'])(
    'createClientAddress rejects trustProxy: ["%s"]',
    (range) => {
      expect(() => createClientAddress([range])).toThrow(
        `trustProxy contains "${range}", which is neither an IP address nor a range. Write an address, such as 10.0.0.1 or 2001:db8::1, `,
      );
    },
  );
});
