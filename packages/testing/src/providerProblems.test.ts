import { describe, expect, it } from 'vitest';
import { anthropicProblems, geminiProblems, openAiProblems } from './providerProblems.ts';

const toolOf = (property: object, top: object = {}) => ({
  name: 'tool',
  inputSchema: { type: 'object', properties: { p: property }, ...top },
});

const text = { type: 'string' };
const nothing = { type: 'null' };
const recursive = { type: 'object', properties: { next: { $ref: '#/$defs/Node' } }, required: ['next'] };

describe('a schema that an API rejects is a problem', () => {
  it.each([
    ['a name with a dot', { ...toolOf(text), name: 'a.b' }],
    ['a combinator at the top', toolOf(text, { anyOf: [{ required: ['p'] }] })],
    ['a property with a space', toolOf(text, { properties: { 'a b': text } })],
    ['the list of items of an older draft', toolOf({ type: 'array', items: [text] })],
  ])('of Anthropic: %s', (_what, each) => {
    expect(anthropicProblems(each)).toHaveLength(1);
  });

  it.each([
    ['no properties', { name: 'tool', inputSchema: { type: 'object' } }],
    ['an enumeration at the top', toolOf(text, { enum: [{}] })],
    ['an array without items', toolOf({ type: 'array', prefixItems: [text] })],
    ['a format', toolOf({ type: 'string', format: 'uri' })],
    ['oneOf', toolOf({ oneOf: [text, nothing] })],
    ['a value without a type', toolOf({ description: 'Any.' })],
    ['too many values', toolOf({ type: 'string', enum: Array.from({ length: 1001 }, (_, at) => `${at}`) })],
  ])('of OpenAI: %s', (_what, each) => {
    expect(openAiProblems(each)).toHaveLength(1);
  });

  it.each([
    ['a name with a digit first', { ...toolOf(text), name: '1st' }],
    ['a list of types', toolOf({ type: ['string', 'null'] })],
    ['a value without a type', toolOf({ const: 'a' }), 2],
    ['an array without items of its own', toolOf({ type: 'array', prefixItems: [text], items: false })],
    ['an enumeration of numbers', toolOf({ type: 'number', enum: [1] })],
    ['an empty text in an enumeration', toolOf({ type: 'string', enum: [''] })],
    ['a description beside anyOf', toolOf({ description: 'A.', anyOf: [text, nothing] })],
    ['a title beside a reference', toolOf({ title: 'A', $ref: '#/$defs/A' }, { $defs: { A: text } })],
    ['a reference to nothing', toolOf({ $ref: '#/$defs/A' })],
    ['a required property that is not defined', toolOf(text, { required: ['q'] })],
    ['a property with a hyphen', toolOf(text, { properties: { 'a-b': text } })],
    ['recursion by required properties', toolOf({ $ref: '#/$defs/Node' }, { $defs: { Node: recursive } })],
  ])('of Gemini: %s', (_what, each, count = 1) => {
    expect(geminiProblems(each)).toHaveLength(count);
  });
});
