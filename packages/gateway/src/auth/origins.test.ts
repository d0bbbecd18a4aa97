import { expect, it } from 'vitest';
import type { HttpRequest } from '../http/request.ts';
import { originMatcher, passesOriginCheck, requireOrigins, type Origins } from './origins.ts';

const request = {} as HttpRequest;

it.each<[origins: readonly string[], origin: string, isAllowed: boolean]>([
  [[], 'https://a.example', false],
  [['https://a.example'], 'https://a.example', true],
  [['https://a.example'], 'https://A.example', false],
  [['https://a.example'], 'https://a.example:444', false],
  [['https://a.example', 'https://b.example'], 'https://b.example', true],
])('origins: %j allows %s: %s', (origins, origin, isAllowed) => {
  expect(originMatcher(origins)(origin, request)).toBe(isAllowed);
});

it.each([
  [true, true],
  [false, false],
  [undefined, false],
  ['https://a.example', false],
])('an origins function that returns %s allows the origin: %s', (returned, isAllowed) => {
  expect(originMatcher(() => returned as boolean)('https://a.example', request)).toBe(isAllowed);
});

it('an origins function that returns a promise throws an error that names the option', () => {
  const matches = originMatcher((() => Promise.resolve(true)) as never);
  expect(() => matches('https://a.example', request)).toThrow('cors.origins returned a promise');
});

it('passesOriginCheck returns false if the check throws, and keeps the first error for the log', () => {
  const context: { request: HttpRequest; error: unknown } = { request, error: undefined };
  const failing = (message: string) => () => {
    throw new Error(message);
  };
  expect(passesOriginCheck(failing('first'), context)).toBe(false);
  expect(passesOriginCheck(failing('second'), context)).toBe(false);
  expect(passesOriginCheck((checked) => checked === request, context)).toBe(true);
  expect(context.error).toEqual(new Error('first'));
});

it.each<[origins: Origins]>([[[]], [['https://a.example', 'http://localhost:3000']], [() => false]])(
  'requireOrigins accepts %j',
  (origins) => {
    expect(() => requireOrigins('cors.origins', origins)).not.toThrow();
  },
);

it.each([
  'a.example',
  'https://a.example/',
  'https://a.example:443',
  'https://A.example',
  'https://a.example/path',
  'null',
  '',
  '*',
  'https://*',
  'https://*.b',
  'https://*.b.example/',
  'https://*.b.example:443',
  '*.b.example',
  'https://*.*.b.example',
])('requireOrigins rejects %j, which is not an origin', (origin) => {
  expect(() => requireOrigins('cors.origins', ['https://b.example', origin])).toThrow(
    `cors.origins contains "${origin}", which is not an origin. Write only scheme, host and port, such as https://pets.example. For patterns, use a function.`,
  );
});
