import { describe, expect, it } from 'vitest';
import { readCommandLine } from './commandLine.ts';

describe('the command line', () => {
  it('takes cases and contenders by name', () => {
    const options = readCommandLine(['--cases', 'get,query', '--contenders', 'minimal, gateway']);
    expect(options).toMatchObject({ cases: ['get', 'query'], contenders: ['minimal', 'gateway'], rounds: 5 });
  });

  it('measures throughput alone, each time for a quarter of a second, with --quick', () => {
    expect(readCommandLine(['--quick'])).toMatchObject({ seconds: 0.25, measurements: ['throughput'] });
  });

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
