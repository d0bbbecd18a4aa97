import { describe, expect, it } from 'vitest';
import { linkTarget, parseLinks } from './link.ts';

describe('parseLinks', () => {
  it('parseLinks returns no links without a header', () => {
    expect(parseLinks(undefined)).toEqual([]);
  });

  it('parseLinks reads several links, quoted and bare parameters, and commas inside targets and quotes', () => {
    expect(parseLinks('</v1/pets?a=1,2>; rel="next"; title="a, \\"b\\"", <x> ;REL=prev; flag')).toEqual([
      { target: '/v1/pets?a=1,2', parameters: { rel: 'next', title: 'a, "b"' } },
      { target: 'x', parameters: { rel: 'prev', flag: '' } },
    ]);
  });

  it.each(['/v1/pets; rel=next', '</v1/pets; rel=next', '<a>; rel="next', '<a> <b>'])(
    'parseLinks throws a SyntaxError for %s',
    (header) => {
      expect(() => parseLinks(header)).toThrow(SyntaxError);
    },
  );
});

describe('linkTarget', () => {
  it('linkTarget finds one of several relations of a link', () => {
    expect(linkTarget('<a>; rel="first next"', 'next')).toBe('a');
    expect(linkTarget('<a>; rel="first next"', 'last')).toBeUndefined();
  });
});
