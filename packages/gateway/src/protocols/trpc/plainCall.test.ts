import { describe, expect, it } from 'vitest';
import type { HttpRequest } from '../../http/request.ts';
import { plainCall } from './plainCall.ts';

type Headers = readonly (readonly [name: string, value: string])[];

const asked = (method: string, target: string, headers: Headers = []) => {
  const [path = '', query = ''] = target.split('?');
  const all: Headers = [['host', 'localhost'], ...headers];
  const request: Pick<HttpRequest, 'method' | 'path' | 'query' | 'header' | 'headers'> = {
    method,
    path,
    query,
    header: (name) => all.find(([other]) => other === name)?.[1],
    headers: () => all,
  };
  return plainCall(request as HttpRequest, '/trpc');
};

const json: Headers = [['content-type', 'application/json']];

describe('a plain call', () => {
  it.each([
    [
      'a query',
      'GET',
      '/trpc/pets.get?input=%7B%7D',
      [],
      { paths: ['pets.get'], isBatch: false, input: '{}' },
    ],
    ['a batch', 'GET', '/trpc/a,b?batch=1&input={}', [], { paths: ['a', 'b'], isBatch: true, input: '{}' }],
    [
      'a mutation, whose input is in its body',
      'POST',
      '/trpc/a?input=1',
      json,
      { paths: ['a'], isBatch: false, input: undefined },
    ],
    [
      'a comma without batch=1, which is part of the name',
      'GET',
      '/trpc/a,b',
      [],
      { paths: ['a,b'], isBatch: false, input: undefined },
    ],
    [
      'the first of two inputs, and of two batch',
      'GET',
      '/trpc/a?input=1&input=2&batch=0&batch=1',
      [],
      { paths: ['a'], isBatch: false, input: '1' },
    ],
    [
      'a plus, which is a blank',
      'GET',
      '/trpc/a?input=%221+2%22',
      [],
      { paths: ['a'], isBatch: false, input: '"1 2"' },
    ],
    [
      'JSON by any spelling',
      'POST',
      '/trpc/a',
      [['content-type', 'Application/JSON; charset=utf-8']],
      { paths: ['a'], isBatch: false, input: undefined },
    ],
  ] as const)('is %s', (_what, method, target, headers, expected) => {
    expect(asked(method, target, headers)).toEqual(expected);
  });

  it.each([
    ['HEAD', 'HEAD', '/trpc/a', []],
    ['a body of another type', 'POST', '/trpc/a', [['content-type', 'application/octet-stream']]],
    ['a body of no type', 'POST', '/trpc/a', []],
    ['JSON lines', 'GET', '/trpc/a?batch=1', [['trpc-accept', 'application/jsonl']]],
    [
      'JSON lines, by a second Accept',
      'GET',
      '/trpc/a?batch=1',
      [
        ['accept', '*/*'],
        ['accept', 'application/jsonl'],
      ],
    ],
    ['connection parameters', 'GET', '/trpc/a?connectionParams={}', []],
    ['a parameter whose name is encoded', 'GET', '/trpc/a?%69nput=1', []],
    ['a batch that is encoded', 'GET', '/trpc/a?batch=%31', []],
    ['an input that is not UTF-8', 'GET', '/trpc/a?input=%FF', []],
    ['a path that is encoded', 'GET', '/trpc/%61', []],
    ['a path that a URL would write otherwise', 'GET', '/trpc/../a', []],
    ['a slash at the end', 'GET', '/trpc/a/', []],
  ] as const)('is not: %s', (_what, method, target, headers) => {
    expect(asked(method, target, headers)).toBeUndefined();
  });
});
