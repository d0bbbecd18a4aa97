import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isExact } from '../../http/exactNumber.ts';
import { parseExactJson } from './exactJson.ts';

/** Decimal text as an exact fraction: digits over a power of ten. */
function fraction(decimal: string): readonly [numerator: bigint, denominator: bigint] {
  const [, sign = '', whole = '', digits = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(decimal) ?? [];
  const power = Number(exponent) - digits.length;
  const numerator = BigInt(`${sign}${whole}${digits}`);
  return power >= 0 ? [numerator * 10n ** BigInt(power), 1n] : [numerator, 10n ** BigInt(-power)];
}

const isSame = (a: string, b: string) => {
  const [[n, d], [m, e]] = [fraction(a), fraction(b)];
  return n * e === m * d;
};

const literal = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constant('0'), fc.bigInt({ min: 1n, max: 10n ** 25n }).map(String)),
    fc.option(fc.stringMatching(/^[0-9]{1,25}$/), { nil: '' }),
    fc.option(fc.integer({ min: -40, max: 40 }), { nil: undefined }),
  )
  .map(
    ([sign, whole, digits, exponent]) =>
      `${sign}${whole}${digits === '' ? '' : `.${digits}`}${exponent === undefined ? '' : `e${exponent}`}`,
  );

const withPower = (e: string) => fc.nat(400).map((power) => e + power);

describe('isExact', () => {
  it('says whether a literal and its shortest double are the same number', () => {
    fc.assert(
      fc.property(literal, (text) => {
        const value = Number(text);
        expect(isExact(text, value)).toBe(isSame(text, String(value)));
      }),
      { numRuns: 2000 },
    );
  });

  it('takes time that grows with the length of the literal alone', () => {
    const start = performance.now();
    isExact(`1${'0'.repeat(1_000_000)}1`, 1);
    isExact(`0.${'01'.repeat(500_000)}`, 1);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

describe('parseExactJson', () => {
  const everything = () => true;

  const roundedMessage = 'n: has a number that JSON cannot carry exactly: it would be rounded.';

  const outcome = (text: string) => {
    try {
      parseExactJson(text, everything);
      return 'taken';
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('looks only at members that are read', () => {
    const text = '{"a":9007199254740993,"b":{"c":[1e400]}}';
    expect(parseExactJson(text, (name) => name === 'z')).toHaveProperty('a');
    expect(() => parseExactJson(text, (name) => name === 'b')).toThrow(/^b: has a number/);
  });

  it('parseExactJson rejects a rounded number in an array, whatever texts precede it', () => {
    for (const text of ['["a","b",1e400]', '[{"b":1},"b",1e400]']) {
      expect(() => parseExactJson(text, () => false)).toThrow(/^input: has a number/);
    }
  });

  it('takes memory and stack that do not grow with depth times width', () => {
    const deep = (inner: string) => `{"n":1e5,"x":${'['.repeat(100_000)}${inner}${']'.repeat(100_000)}}`;
    expect(parseExactJson(deep(`0${',0'.repeat(100_000)}`), (name) => name === 'n')).toHaveProperty('n', 1e5);
    expect(parseExactJson(deep('9007199254740993'), (name) => name === 'n')).toHaveProperty('n', 1e5);
    expect(() => parseExactJson(deep('9007199254740993'), everything)).toThrow('x: has a number');
  });

  it.each([
    '{"a\\"b":1e400}',
    '{"\\\\":{"x":"}"},"a\\"b":[1e400]}',
    '{"x":["{","\\\\",{"y":1}],"a\\"b":1e400}',
  ])('names the member in %s', (text) => {
    expect(() => parseExactJson(text, (name) => name === 'a"b')).toThrow('a"b: has a number');
    expect(() => parseExactJson(text, (name) => name !== 'a"b')).not.toThrow();
  });

  it('gives what JSON.parse gives, for all that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseExactJson(text, everything)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('refuses what a double rounds, of all lengths and sizes, wherever it stands', () => {
    let refusals = 0;
    const exponent = fc.oneof(fc.constant(''), fc.constantFrom('e', 'E-', 'e+0').chain(withPower));
    fc.assert(
      fc.property(literal, exponent, fc.nat(40), fc.nat(40), (mantissa, power, before, after) => {
        const number = mantissa.includes('e') ? mantissa : mantissa + power;
        const text = `{"a":"${'x'.repeat(before)}","n":${number},"b":"${'y'.repeat(after)}"}`;
        const isRounded = !isExact(number, Number(number));
        if (isRounded) refusals += 1;
        expect([number, outcome(text)]).toEqual([number, isRounded ? roundedMessage : 'taken']);
      }),
      { numRuns: 5000 },
    );
    expect(refusals).toBeGreaterThan(500);
    expect(refusals).toBeLessThan(4500);
  });

  it('takes as long for a long array as for the same numbers in eight arrays', () => {
    const took = (count: number, times: number) => {
      const text = JSON.stringify(Array.from({ length: count }, (_, index) => index * 977));
      // The processor's time: a busy machine interrupts what is long more often than what is short.
      const begun = process.cpuUsage();
      for (let time = 0; time < times; time += 1) parseExactJson(text, everything);
      return process.cpuUsage(begun).user;
    };
    took(12_500, 8);
    // Where each number looked through the text before it, it would be eight times as long.
    expect(took(100_000, 10)).toBeLessThan(4 * took(12_500, 80));
  });

  it.each([
    '9007199254740993',
    '9007199254740991.4',
    '5.0000000000000000001',
    '1e400',
    '-1e400',
    '1e-400',
    '0.10000000000000000001',
  ])('refuses %s, and names its field', (text) => {
    expect(() => parseExactJson(`{"a":[{"price":${text}}]}`, everything)).toThrow('a: has a number');
  });

  it.each([
    '9007199254740991',
    '9007199254740992',
    '5.0',
    '5.000000000000000000000',
    '1e3',
    '0.1',
    '-0',
    '1e-5',
    '1.5E+10',
    '0e99999',
  ])('takes %s', (text) => {
    expect(parseExactJson(text, everything)).toBe(Number(text));
  });

  it('leaves digits in strings alone', () => {
    expect(parseExactJson('{"name":"9007199254740993"}', everything)).toEqual({ name: '9007199254740993' });
  });

  it('keeps a "__proto__" member what it is: a member', () => {
    const value = parseExactJson('{"__proto__":{"a":1},"b":1e3}', everything);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value as object)).toEqual(['__proto__', 'b']);
  });

  it('says that the body is not JSON, and nothing of its text', () => {
    expect(() => parseExactJson('{"secret"', everything)).toThrow('The body is not valid JSON.');
  });
});
