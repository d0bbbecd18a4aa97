import { describe, expect, it } from 'vitest';
import type { HttpRequest } from '../http/request.ts';
import { createClientAddress } from './clientAddress.ts';

const request = (peer: string, ...forwarded: string[]) =>
  ({
    remoteAddress: () => peer,
    headers: () => forwarded.map((value) => ['x-forwarded-for', value] as const),
  }) as Partial<HttpRequest> as HttpRequest;

describe('the address of a client', () => {
  it.each<[what: string, trusted: string[], peer: string, forwarded: string[], address: string]>([
    ['is the peer’s', [], '192.0.2.1', ['203.0.113.9'], '192.0.2.1'],
    ['is the peer’s where another proxy is trusted', ['10.0.0.1'], '192.0.2.1', ['203.0.113.9'], '192.0.2.1'],
    ['is what a trusted proxy says', ['10.0.0.0/8'], '10.2.3.4', ['203.0.113.9'], '203.0.113.9'],
    [
      'is the last that no trusted proxy has',
      ['10.0.0.0/8'],
      '10.2.3.4',
      ['1.1.1.1, 203.0.113.9 , 10.9.9.9'],
      '203.0.113.9',
    ],
    [
      'is read of several headers, as one',
      ['10.0.0.0/8'],
      '10.2.3.4',
      ['1.1.1.1', '203.0.113.9'],
      '203.0.113.9',
    ],
    [
      'is the first of the chain where all are trusted',
      ['10.0.0.0/8'],
      '10.1.1.1',
      ['10.3.3.3, 10.2.2.2'],
      '10.3.3.3',
    ],
    ['is the proxy’s where what it says is none', ['10.0.0.1'], '10.0.0.1', ['unknown'], '10.0.0.1'],
    // What stands further left is the client's to write.
    [
      'is the proxy’s where the last hop cannot be read',
      ['10.0.0.1'],
      '10.0.0.1',
      ['203.0.113.9, unknown'],
      '10.0.0.1',
    ],
    ['is the proxy’s where it says nothing', ['10.0.0.1'], '10.0.0.1', [], '10.0.0.1'],
    ['is the proxy’s where what it says is a number', ['10.0.0.1'], '10.0.0.1', ['7'], '10.0.0.1'],
    ['is told by a range of IPv6', ['2001:db8::/32'], '2001:db8::1', ['203.0.113.9'], '203.0.113.9'],
    ['is the peer’s where its neighbour is trusted', ['10.0.0.1'], '10.0.0.2', ['203.0.113.9'], '10.0.0.2'],
    [
      'is the peer’s where its neighbour in IPv6 is trusted',
      ['2001:db8::1'],
      '2001:db8::2',
      ['203.0.113.9'],
      '2001:db8:0:0::/64',
    ],
    [
      'is the proxy’s where a bracket is followed by text',
      ['10.0.0.1'],
      '10.0.0.1',
      ['[2001:db8::1]x'],
      '10.0.0.1',
    ],
    ['may stand in brackets', ['::1'], '::1', ['[2001:db8::1]'], '2001:db8:0:0::/64'],
    ['may have a port', ['10.0.0.1'], '10.0.0.1', ['203.0.113.9:4711'], '203.0.113.9'],
    ['may have a port beside brackets', ['::1'], '::1', ['[2001:db8::1]:80'], '2001:db8:0:0::/64'],
    [
      'of IPv6 is its network, however it is spelt',
      [],
      '2001:0DB8:0000:0001:0:0:0:1',
      [],
      '2001:db8:0:1::/64',
    ],
    ['of IPv4 within IPv6 is that', [], '::ffff:192.0.2.1', [], '192.0.2.1'],
    [
      'of IPv4 within IPv6 is trusted as that',
      ['127.0.0.1'],
      '0000:0000:0000:0000:0000:ffff:7f00:0001',
      ['203.0.113.9'],
      '203.0.113.9',
    ],
    ['of one that is gone is nothing', [], '', [], ''],
  ])('%s', (_what, trusted, peer, forwarded, address) => {
    expect(createClientAddress(trusted)(request(peer, ...forwarded))).toBe(address);
  });

  it('is kept with its request: a host may not answer for it later', () => {
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
  ])('cannot be told by "%s"', (range) => {
    expect(() => createClientAddress([range])).toThrow(
      `trustProxy names "${range}", which is neither an address nor a range: write 10.0.0.1 or 10.0.0.0/8, `,
    );
  });
});
