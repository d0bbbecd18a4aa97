import { expect, test } from 'vitest';
import { log } from './log.ts';

test('log() rejects unknown options and invalid values with one line for each', () => {
  const options = { level: 'warning', requests: 'error', kind: 1 } as object;
  expect(() => log(options)).toThrow(
    new RangeError(
      [
        '"kind" is not an option of log; did you mean "kindOf"?',
        'log.level is "warning"; it must be one of trace, debug, info, warn, error, fatal, silent.',
        'log.requests is "error"; it must be one of errors, all, none.',
      ].join('\n'),
    ),
  );
});
