import { expect, it } from 'vitest';
import type { HttpRequest } from '../../http/request.ts';
import { apiKey } from './apiKey.ts';
import { basic, basicCredential } from './basic.ts';
import { cookieValue } from './cookie.ts';

const encode = (text: string) => Buffer.from(text).toString('base64');
const ofBasic = (authorization: string | undefined) => basicCredential({ header: () => authorization });

it.each<[authorization: string, credential: string]>([
  // RFC 7617 §2 and §2.1
  ['Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==', 'Aladdin:open sesame'],
  ['Basic dGVzdDoxMjPCow==', 'test:123£'],
  ['basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==', 'Aladdin:open sesame'],
  ['BASIC   YTpi  ', 'a:b'],
  [`Basic ${encode('a:b:c')}`, 'a:b:c'],
  [`Basic ${encode(':')}`, ':'],
  [`Basic ${encode(':secret')}`, ':secret'],
  [`Basic ${encode('ada:')}`, 'ada:'],
  [`Basic ${encode('\u{1F43E}:\uFEFF')}`, '\u{1F43E}:\uFEFF'],
])('basic reads %j as %j', (authorization, credential) => {
  expect(ofBasic(authorization)).toBe(credential);
});

it.each([
  'Basic',
  'Basic ',
  `Basic ${encode('without a colon')}`,
  'Basic !!!',
  'Basic YTpi=x',
  'Basic YTp-',
  'Basic A',
  `Basic ${encode('a:b')} ${encode('a:b')}`,
  `Basic ${encode('a:b')},Basic ${encode('a:b')}`,
  // Latin-1, not UTF-8
  `Basic ${Buffer.from('test:123£', 'latin1').toString('base64')}`,
  // Control characters (RFC 7617 §2)
  `Basic ${encode('a\r\nb:c')}`,
  `Basic ${encode('a:b\0')}`,
  `Basic ${encode('a:\u007F')}`,
])('basic reads %j as malformed', (authorization) => {
  expect(ofBasic(authorization)).toBeNull();
});

it.each([undefined, '', 'Bearer YTpi', 'Basics YTpi', 'a Basic YTpi', 'Basic\tYTpi'])(
  'basic reads no credential from %j',
  (authorization) => {
    expect(ofBasic(authorization)).toBeUndefined();
  },
);

it('basic passes the user name before the first colon and the password after it to verify', () => {
  const scheme = basic({ verify: (...passed) => passed });
  const request = {} as HttpRequest;
  expect(scheme.verify('ada:a:b', request)).toEqual(['ada', 'a:b', request]);
});

it.each<[header: string, value: string | null | undefined]>([
  ['s=abc', 'abc'],
  ['a=b; s=abc; c=d', 'abc'],
  ['a=b;s=abc;c=d', 'abc'],
  [' s = abc ', 'abc'],
  ['s="abc"', 'abc'],
  ['s=a=b', 'a=b'],
  ['s=a%20b', 'a%20b'],
  ['ss=abc', undefined],
  ['xs=abc; s', undefined],
  ['S=abc', undefined],
  ['', undefined],
  ['s=', undefined],
  ['s=""', undefined],
  // One of them may come from a sibling subdomain
  ['s=abc; s=def', null],
  ['s=abc; s=abc', null],
  ['s=; s=abc', null],
  ['s="abc', null],
  ['s=a"b', null],
  ['s=a b', null],
  ['s=a,b', null],
  [String.raw`s=a\b`, null],
  ['s=\u00E9', null],
  // Browsers do not accept `__Host-` names from subdomains, but treat these as other names
  ['\u2000s=abc', undefined],
  ['\u00A0s=abc', undefined],
  ['\uFEFFs=abc', undefined],
  ['\u2000s=def; s=abc', 'abc'],
  ['\ts\t=\tabc\t', 'abc'],
  ['s=\u2000abc', null],
])('cookieValue reads the cookie s of %j as %j', (header, value) => {
  expect(cookieValue(header, 's')).toBe(value);
});

it.each<[key: string | undefined, expected: string | null | undefined]>([
  [undefined, undefined],
  ['psk_123+/=', 'psk_123+/='],
  ['a b', null],
  ['', null],
  ['a, b', null],
  ['a,b', null],
  ['é', null],
])('apiKey reads %j as %j', (key, expected) => {
  const scheme = apiKey({ verify: () => undefined, header: 'X-Key' });
  expect(scheme.read({ header: (name) => (name === 'x-key' ? key : undefined) }, {} as HttpRequest)).toBe(
    expected,
  );
});

it.each([
  ['before the =', (blanks: string) => `a=b;${blanks}x y=1`],
  ['around a name', (blanks: string) => `${blanks}s${blanks}x=1`],
  ['in the value', (blanks: string) => `s=a${blanks}b${blanks}c`],
  ['after the value', (blanks: string) => `s=a${blanks}`],
])(
  'cookieValue takes less than 200 ms of CPU for a header with 65,536 spaces or tabs %s',
  (_where, headerOf) => {
    for (const blank of [' ', '\t', ' \t']) {
      const header = headerOf(blank.repeat(65_536 / blank.length));
      const before = process.cpuUsage();
      cookieValue(header, 's');
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1000).toBeLessThan(200);
    }
  },
);
