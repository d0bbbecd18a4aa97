import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExactJson } from './exactJson.ts';

/** Converts a decimal text to an exact fraction. */
function fraction(decimal: string): readonly [numerator: bigint, denominator: bigint] {
  const [, sign = '', whole = '', digits = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(decimal) ?? [];
  const power = Number(exponent) - digits.length;
  const numerator = BigInt(`${sign}${whole}${digits}`);
  return power >= 0 ? [numerator * 10n ** BigInt(power), 1n] : [numerator, 10n ** BigInt(-power)];
}

/** Whether a double has the value of a literal. */
function isExact(text: string): boolean {
  const value = Number(text);
  if (!Number.isFinite(value)) return false;
  const [[n, d], [m, e]] = [fraction(text), fraction(String(value))];
  return n * e === m * d;
}

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

describe('parseExactJson', () => {
  const everything = () => true;

  const roundedMessage = 'n: contains a number that JSON cannot represent exactly.';

  const outcome = (text: string) => {
    try {
      parseExactJson(text, everything);
      return 'accepted';
    } catch (error) {
      return (error as Error).message;
    }
  };

  it('parseExactJson handles a body that is both very deep and very wide', () => {
    const deep = (inner: string) => `{"n":1e5,"x":${'['.repeat(100_000)}${inner}${']'.repeat(100_000)}}`;
    expect(parseExactJson(deep(`0${',0'.repeat(100_000)}`), (name) => name === 'n')).toHaveProperty('n', 1e5);
    expect(parseExactJson(deep('9007199254740993'), (name) => name === 'n')).toHaveProperty('n', 1e5);
    expect(() => parseExactJson(deep('9007199254740993'), everything)).toThrow('x: contains a number');
  });

  it.each<[text: string, isRead: (name: string) => boolean, message: string]>([
    ['{"a":9007199254740993,"b":{"c":[1e400]}}', (name) => name === 'b', 'b: contains a number'],
    // Neither side of the point is long.
    ['{"a":123456789012.12345678}', everything, 'a: contains a number'],
    // Whatever texts precede it in an array.
    ['["a","b",1e400]', () => false, 'input: contains a number'],
    ['[{"b":1},"b",1e400]', () => false, 'input: contains a number'],
    ['{"secret"', everything, 'The body is not valid JSON.'],
  ])('parseExactJson rejects %s without repeating it', (text, isRead, message) => {
    expect(() => parseExactJson(text, isRead)).toThrow(message);
    expect(() => parseExactJson(text, isRead)).not.toThrow(text);
  });

  it.each(['{"a":9007199254740993,"b":{"c":[1e400]}}', '{"name":"9007199254740993"}'])(
    'parseExactJson accepts %s, whose texts and unread members have any digits',
    (text) => {
      expect(parseExactJson(text, (name) => name === 'name')).toEqual(JSON.parse(text));
    },
  );

  it.each([
    '{"a\\"b":1e400}',
    '{"\\\\":{"x":"}"},"a\\"b":[1e400]}',
    '{"x":["{","\\\\",{"y":1}],"a\\"b":1e400}',
  ])('parseExactJson names the member with a rounded number in %s', (text) => {
    expect(() => parseExactJson(text, (name) => name === 'a"b')).toThrow('a"b: contains a number');
    expect(() => parseExactJson(text, (name) => name !== 'a"b')).not.toThrow();
  });

  it('parseExactJson returns the same as JSON.parse for any output of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseExactJson(text, everything)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('parseExactJson rejects exactly the numbers that a double rounds, of any length and at any position', () => {
    let rejections = 0;
    const exponent = fc.oneof(fc.constant(''), fc.constantFrom('e', 'E-', 'e+0').chain(withPower));
    fc.assert(
      fc.property(literal, exponent, fc.nat(40), fc.nat(40), (mantissa, power, before, after) => {
        const number = mantissa.includes('e') ? mantissa : mantissa + power;
        const text = `{"a":"${'x'.repeat(before)}","n":${number},"b":"${'y'.repeat(after)}"}`;
        const isRounded = !isExact(number);
        if (isRounded) rejections += 1;
        expect([number, outcome(text)]).toEqual([number, isRounded ? roundedMessage : 'accepted']);
      }),
      { numRuns: 5000 },
    );
    expect(rejections).toBeGreaterThan(500);
    expect(rejections).toBeLessThan(4500);
  });

  it('parseExactJson takes time that is linear in the length of an array', () => {
    const duration = (count: number, times: number) => {
      const text = JSON.stringify(Array.from({ length: count }, (_, index) => index * 977));
      // CPU time, since a busy machine interrupts long runs more often than short ones.
      const begun = process.cpuUsage();
      for (let time = 0; time < times; time += 1) parseExactJson(text, everything);
      return process.cpuUsage(begun).user;
    };
    duration(12_500, 8);
    // If it were quadratic, it would take eight times as long.
    expect(duration(100_000, 10)).toBeLessThan(4 * duration(12_500, 80));
  });

  it('parseExactJson keeps "__proto__" as an own property', () => {
    const value = parseExactJson('{"__proto__":{"a":1},"b":1e3}', everything);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value as object)).toEqual(['__proto__', 'b']);
  });
});
