import { expect, it } from 'vitest';
import { unknownOptions } from './unknownOptions.ts';

const known = ['authentication', 'cors', 'createContext', 'trpc'];

it.each([
  ['authenticate', '"authenticate" is not an option of serve; did you mean "authentication"?'],
  ['CORS', '"CORS" is not an option of serve; did you mean "cors"?'],
  ['createContex', '"createContex" is not an option of serve; did you mean "createContext"?'],
  ['realm', '"realm" is not an option of serve; remove it.'],
])('unknownOptions reports %s with the most similar name, if any', (name, sentence) => {
  expect(unknownOptions('serve', { cors: 1, [name]: undefined }, known)).toEqual([sentence]);
});

it.each([
  [['windowSeconds', 'calls'], 'did you mean "windowSeconds"?'],
  [['windowSeconds', 'windowCalls'], 'remove it.'],
])('unknownOptions suggests the only one of %j that contains the unknown name', (names, fix) => {
  expect(unknownOptions('rateLimit', { window: 1 }, names)).toEqual([
    `"window" is not an option of rateLimit; ${fix}`,
  ]);
});
