import { describe, expect, it } from 'vitest';
import { quickContenders, readCommandLine } from './commandLine.ts';
import { suites } from './suites/suites.ts';

describe('the command line', () => {
  it('takes cases and contenders by name', () => {
    const options = readCommandLine(['--cases', 'get,query', '--contenders', 'minimal, gateway']);
    expect(options).toMatchObject({ cases: ['get', 'query'], contenders: ['minimal', 'gateway'], rounds: 5 });
  });

  it('measures throughput alone, each time for a quarter of a second, with --quick', () => {
    expect(readCommandLine(['--quick'])).toMatchObject({ seconds: 0.25, measurements: ['throughput'] });
  });

  it.each(Object.entries(suites))(
    'measures contenders and cases that the suite %s has, with --quick and without',
    (name, suite) => {
      const all = suite.contenders.map((contender) => contender.name);
      const cases = suite.cases.map((each) => each.name);
      const isPets = name === 'pets';
      expect(readCommandLine(['--suite', name])).toMatchObject({ suite, cases, contenders: all });
      expect(readCommandLine(['--suite', name, '--quick'])).toMatchObject({
        cases,
        contenders: isPets ? quickContenders : all,
      });
      expect(readCommandLine(['--suite', name])?.measurements.length).toBe(isPets ? 2 : 1);
    },
  );

  it('measures beside a neighbour only with --neighbour', () => {
    expect(readCommandLine(['--neighbour'])).toMatchObject({ neighbour: true });
    expect(readCommandLine([])).toMatchObject({ neighbour: false });
  });

  it.each([
    [['--cases', 'nothing'], '"nothing" is not valid; it must be one of get, '],
    [['--rounds', 'many'], '--rounds is many; it must be a number above 0.'],
  ])('%j is rejected with a sentence', (args, message) => {
    expect(() => readCommandLine(args)).toThrow(message);
  });
});
