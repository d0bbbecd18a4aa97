import { expect, it } from 'vitest';
import type { HttpRequest } from '../../http/request.ts';
import { apiKey } from './apiKey.ts';
import { cookieValue } from './cookie.ts';

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
  ['x y=1; s=abc', 'abc'],
  ['=x; s=abc', 'abc'],
  ['s= "a" ', 'a'],
  ['s= ', undefined],
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
  ['around the value', (blanks: string) => `s=${blanks}a${blanks}`],
  ['before an invalid value', (blanks: string) => `s=${blanks}"`],
  ['instead of the value', (blanks: string) => `s=${blanks}`],
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
