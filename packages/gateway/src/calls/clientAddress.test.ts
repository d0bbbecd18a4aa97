import { describe, expect, it } from 'vitest';
import type { HttpRequest } from '../http/request.ts';
import { createClientAddress } from './clientAddress.ts';

const request = (peer: string, ...forwarded: string[]) =>
  ({
    remoteAddress: () => peer,
    headers: () => forwarded.map((value) => ['x-forwarded-for', value]),
  }) as Partial<HttpRequest> as HttpRequest;

describe('createClientAddress', () => {
  it.each<[what: string, trusted: string[], peer: string, forwarded: string[], address: string]>([
    ['is the peer without trustProxy', [], '192.0.2.1', ['203.0.113.9'], '192.0.2.1'],
    ['is the peer if only another proxy is trusted', ['10.0.0.1'], '192.0.2.1', ['203.0.113.9'], '192.0.2.1'],
    [
      'is the address that a trusted proxy reports',
      ['10.0.0.0/8'],
      '10.2.3.4',
      ['203.0.113.9'],
      '203.0.113.9',
    ],
    [
      'is the last address that is not a trusted proxy',
      ['10.0.0.0/8'],
      '10.2.3.4',
      ['1.1.1.1, 203.0.113.9 , 10.9.9.9'],
      '203.0.113.9',
    ],
    [
      'is read from several X-Forwarded-For headers as if they were one',
      ['10.0.0.0/8'],
      '10.2.3.4',
      ['1.1.1.1', '203.0.113.9'],
      '203.0.113.9',
    ],
    [
      'is the first address of the chain if all are trusted',
      ['10.0.0.0/8'],
      '10.1.1.1',
      ['10.3.3.3, 10.2.2.2'],
      '10.3.3.3',
    ],
    ['is the proxy if it reports no valid address', ['10.0.0.1'], '10.0.0.1', ['unknown'], '10.0.0.1'],
    // Entries further left may be written by the client.
    [
      'is the proxy if the last hop is not a valid address',
      ['10.0.0.1'],
      '10.0.0.1',
      ['203.0.113.9, unknown'],
      '10.0.0.1',
    ],
    ['is the proxy without X-Forwarded-For', ['10.0.0.1'], '10.0.0.1', [], '10.0.0.1'],
    ['is the proxy if it reports a number', ['10.0.0.1'], '10.0.0.1', ['7'], '10.0.0.1'],
    [
      'is the address that a proxy of a trusted IPv6 range reports',
      ['2001:db8::/32'],
      '2001:db8::1',
      ['203.0.113.9'],
      '203.0.113.9',
    ],
    ['is the peer if only its neighbour is trusted', ['10.0.0.1'], '10.0.0.2', ['203.0.113.9'], '10.0.0.2'],
    [
      'is the peer if only its IPv6 neighbour is trusted',
      ['2001:db8::1'],
      '2001:db8::2',
      ['203.0.113.9'],
      '2001:db8::/64',
    ],
    [
      'is the proxy if it reports text after a bracket',
      ['10.0.0.1'],
      '10.0.0.1',
      ['[2001:db8::1]x'],
      '10.0.0.1',
    ],
    ['is read from brackets', ['::1'], '::1', ['[2001:db8::1]'], '2001:db8::/64'],
    ['is read without its port', ['10.0.0.1'], '10.0.0.1', ['203.0.113.9:4711'], '203.0.113.9'],
    ['is read from brackets without its port', ['::1'], '::1', ['[2001:db8::1]:80'], '2001:db8::/64'],
    [
      'is the /64 network of an IPv6 address in any notation',
      [],
      '2001:0DB8:0000:0001:0:0:0:1',
      [],
      '2001:db8:0:1::/64',
    ],
    ['is the IPv4 address of an IPv4-mapped IPv6 address', [], '::ffff:192.0.2.1', [], '192.0.2.1'],
    [
      'is the address that a trusted proxy with an IPv4-mapped IPv6 address reports',
      ['127.0.0.1'],
      '0000:0000:0000:0000:0000:ffff:7f00:0001',
      ['203.0.113.9'],
      '203.0.113.9',
    ],
    ['is empty if the client has disconnected', [], '', [], ''],
  ])('the address of a client %s', (_what, trusted, peer, forwarded, address) => {
    expect(createClientAddress(trusted)(request(peer, ...forwarded))).toBe(address);
  });

  it('the address of a request is remembered, because an adapter may not know it later', () => {
    const addresses = ['192.0.2.1', ''];
    const leaving = { ...request(''), remoteAddress: () => addresses.shift() ?? '' };
    const addressOf = createClientAddress([]);
    expect([addressOf(leaving), addressOf(leaving)]).toEqual(['192.0.2.1', '192.0.2.1']);
  });

  it.each([
    '10.0.0.0/33',
    'proxy.local',
    'true',
    '',
    '10',
    '0x7f',
    '010.0.0.1',
    '127.1',
    '10/8',
    '::ffff:10.0.0.0/104',
  ])('createClientAddress rejects trustProxy: ["%s"]', (range) => {
    expect(() => createClientAddress([range])).toThrow(
      `trustProxy contains "${range}", which is neither an IP address nor a range. Write an address, such as 10.0.0.1 or 2001:db8::1, `,
    );
  });
});
