import { expect, it } from 'vitest';
import { quickContenders, readCommandLine, suites } from './commandLine.ts';

it.each([
  [
    '--cases get,query --contenders minimal,gateway',
    { cases: ['get', 'query'], contenders: ['minimal', 'gateway'], rounds: 5 },
  ],
  ['--quick', { seconds: 0.25, rounds: 7 }],
])('the command line takes %s', (line, options) => {
  expect(readCommandLine(line.split(' '))).toMatchObject(options);
});

it.each(Object.entries(suites))(
  'the bench measures contenders and cases that the suite %s has, with --quick and without',
  (name, suite) => {
    const contenders = suite.contenders.map((contender) => contender.name);
    const cases = suite.cases.map((each) => each.name);
    const isPets = name === 'pets';
    expect(readCommandLine(['--suite', name])).toMatchObject({ suite, cases, contenders });
    const quick = readCommandLine(['--suite', name, '--quick']);
    expect(quick).toMatchObject({ cases, contenders: isPets ? quickContenders : contenders });
  },
);

it.each([
  [['--cases', 'nothing'], '"nothing" is not valid; it must be one of get, '],
  [['--rounds', 'many'], '--rounds is many; it must be a number above 0.'],
])('%j is rejected with a sentence', (args, message) => {
  expect(() => readCommandLine(args)).toThrow(message);
});
