import { describe, expect, it } from 'vitest';
import { readCommandLine } from './commandLine.ts';

describe('the command line', () => {
  it('takes cases and contenders by name', () => {
    const options = readCommandLine(['--cases', 'get,query', '--contenders', 'uws, gateway']);
    expect(options).toMatchObject({ cases: ['get', 'query'], contenders: ['uws', 'gateway'], rounds: 5 });
  });

  it('measures less, and less often, when it is to be quick', () => {
    expect(readCommandLine(['--quick'])).toMatchObject({ rounds: 3, measurements: ['throughput', 'start'] });
  });

  it.each([
    [['--cases', 'nothing'], 'There is no "nothing": it is one of get, '],
    [['--rounds', 'many'], '--rounds is many: it takes a number above 0.'],
  ])('refuses %j with a sentence', (args, message) => {
    expect(() => readCommandLine(args)).toThrow(message);
  });
});
