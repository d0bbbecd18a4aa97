import { expect, it } from 'vitest';
import {
  isText,
  optional,
  optionProblems,
  positiveInteger,
  positiveNumber,
  required,
  text,
} from './optionRules.ts';

const rules = { authentication: text, cors: text, createContext: text, trpc: text };

it.each([
  ['authenticate', '"authenticate" is not an option of serve; did you mean "authentication"?'],
  ['CORS', '"CORS" is not an option of serve; did you mean "cors"?'],
  ['createContex', '"createContex" is not an option of serve; did you mean "createContext"?'],
  ['realm', '"realm" is not an option of serve; its options are authentication, cors, createContext, trpc.'],
])(
  'optionProblems reports the unknown option %s with the most similar name, or with all',
  (name, sentence) => {
    expect(optionProblems('serve', { cors: 'a', [name]: undefined }, rules)).toEqual([sentence]);
  },
);

it('optionProblems names invalid and missing options, also of nested objects', () => {
  const name = required(isText, "a string, such as name: 'MIT'");
  const license = optional((value) => typeof value === 'object', 'an object', { name });
  const options = { license: { nam: 'MIT' }, other: { list: [1] } };
  expect(optionProblems('document', options, { name, license, other: text }, 'document.')).toEqual([
    "document.name is undefined; it must be a string, such as name: 'MIT'.",
    '"nam" is not an option of document.license; did you mean "name"?',
    "document.license.name is undefined; it must be a string, such as name: 'MIT'.",
    'document.other is {"list":[1]}; it must be a string.',
  ]);
});

it('positiveInteger and positiveNumber accept undefined and values in their range', () => {
  expect([undefined, 1, Number.MAX_SAFE_INTEGER].every(positiveInteger.accepts)).toBe(true);
  expect([0, -1, 1.5, Infinity, Number.NaN, 2 ** 53, '1', null].some(positiveInteger.accepts)).toBe(false);
  expect([undefined, 1, 0.5, Infinity].every(positiveNumber.accepts)).toBe(true);
  expect([0, -1, Number.NaN, '1', null].some(positiveNumber.accepts)).toBe(false);
});
