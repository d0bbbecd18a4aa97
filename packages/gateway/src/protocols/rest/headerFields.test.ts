import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Header } from '../../http/response.ts';
import { inProcessRequest } from '../../testing/inProcessRequest.ts';
import { operationInput } from '../../operations/operationInput.ts';
import { readZod } from '../../operations/readSchema.ts';
import type { InputIssue } from '../../procedures/inputError.ts';
import { convertHeaders } from './headerFields.ts';

/** Reads the property `p` of an input from the headers of a request. Returns the input or the messages of its issues. */
function read(
  schema: z.ZodType,
  place: { in: 'header' | 'cookie'; name: string },
  headers: readonly Header[],
) {
  const rest = { method: 'GET', path: '/x', in: { p: place } } as const;
  const { headers: parameters } = operationInput(
    [readZod(z.object({ p: schema.optional() }), 'input')],
    rest,
    ['x'],
    [],
  );
  const input: Record<string, unknown> = {};
  const issues: InputIssue[] = [];
  const request = Object.assign(inProcessRequest('GET', '/x'), {
    header: (name: string) => headers.find(([other]) => other === name)?.[1],
    headers: () => headers,
  });
  convertHeaders(parameters, request, input, issues);
  return issues.length > 0 ? issues.map(({ message }) => message) : input;
}

describe('convertHeaders', () => {
  const header = { in: 'header', name: 'X-P' } as const;

  it.each<[description: string, schema: z.ZodType, headers: readonly Header[], result: unknown]>([
    ['a text with commas', z.string(), [['x-p', 'a, b']], { p: 'a, b' }],
    ['an empty text', z.string(), [['x-p', '']], { p: '' }],
    ['no header', z.string(), [['x-q', 'a']], {}],
    ['an integer', z.int(), [['x-p', '-5']], { p: -5 }],
    ['an invalid integer', z.int(), [['x-p', '5.0']], ['must be an integer, such as 42 or -7']],
    [
      'a text that was sent twice',
      z.string(),
      [
        ['x-p', 'a'],
        ['x-p', 'a'],
      ],
      ['must not be sent more than once'],
    ],
    ['a list', z.array(z.int()), [['x-p', '1,2 ,\t3']], { p: [1, 2, 3] }],
    [
      'a list in several headers',
      z.array(z.string()),
      [
        ['x-p', 'a'],
        ['x-q', 'x'],
        ['x-p', 'b,c'],
      ],
      { p: ['a', 'b', 'c'] },
    ],
    [
      'a list with empty elements (RFC 9110 §5.6.1.2)',
      z.array(z.string()),
      [['x-p', ',a,, b,']],
      { p: ['a', 'b'] },
    ],
    ['an empty list', z.array(z.string()), [['x-p', '']], { p: [] }],
    ['a list with an invalid item', z.array(z.boolean()), [['x-p', 'true,yes']], ['must be true or false']],
  ])('convertHeaders reads %s from a header', (_description, schema, headers, result) => {
    expect(read(schema, header, headers)).toEqual(result);
  });

  it.each<[description: string, schema: z.ZodType, cookies: string, result: unknown]>([
    ['a text', z.string(), 'q=1; p=a', { p: 'a' }],
    ['a text that is percent-encoded', z.string(), 'p=a%3Bb%20c', { p: 'a;b c' }],
    ['a text that contains =', z.string(), 'p=a=b', { p: 'a=b' }],
    ['an empty text', z.string(), 'p=', { p: '' }],
    ['an integer', z.int(), 'p=5;q', { p: 5 }],
    ['no cookie', z.string(), 'P=a; pp=b; p', {}],
    ['the first of several (RFC 6265bis §5.8.3)', z.int(), 'p=1; p=2', { p: 1 }],
    ['invalid UTF-8', z.string(), 'p=%ff', ['is not valid percent-encoded UTF-8']],
  ])('convertHeaders reads %s from a cookie', (_description, schema, cookies, result) => {
    expect(read(schema, { in: 'cookie', name: 'p' }, [['cookie', cookies]])).toEqual(result);
  });

  it('convertHeaders does not read inherited properties as cookies: __proto__, constructor, toString', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      expect(read(z.string(), { in: 'cookie', name }, [['cookie', 'a=b']])).toEqual({});
    }
  });
});
