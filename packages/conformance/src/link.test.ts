import { describe, expect, it } from 'vitest';
import { linkTarget, parseLinks } from './link.ts';

describe('parseLinks', () => {
  it('reads no links from no header', () => {
    expect(parseLinks(undefined)).toEqual([]);
  });

  it('reads several links, quoted and bare parameters, and commas inside targets and quotes', () => {
    expect(parseLinks('</v1/pets?a=1,2>; rel="next"; title="a, \\"b\\"", <x> ;REL=prev; flag')).toEqual([
      { target: '/v1/pets?a=1,2', parameters: { rel: 'next', title: 'a, "b"' } },
      { target: 'x', parameters: { rel: 'prev', flag: '' } },
    ]);
  });

  it.each(['/v1/pets; rel=next', '</v1/pets; rel=next', '<a>; rel="next', '<a> <b>'])(
    'refuses %s',
    (header) => {
      expect(() => parseLinks(header)).toThrow(SyntaxError);
    },
  );
});

describe('linkTarget', () => {
  it('finds a relation among several of one link', () => {
    expect(linkTarget('<a>; rel="first next"', 'next')).toBe('a');
    expect(linkTarget('<a>; rel="first next"', 'last')).toBeUndefined();
  });
});
