import { expect, it } from 'vitest';
import { markdown } from './markdown.ts';
import type { Report } from './report.ts';
import { svg } from './svg.ts';

const round = { rate: 80, perCore: 80, busy: 1, foreign: 0.04 };
const measured = {
  rate: 80,
  spread: 0.02,
  peerRatio: undefined,
  rounds: [round, { ...round, foreign: 0.3 }],
};
const report: Report = {
  at: '2026-11-20T00:00:00.000Z',
  command: 'npm run bench -- --quick',
  machine: { processor: 'A processor', cores: 2, node: 'v22.0.0' },
  rounds: 5,
  seconds: 2,
  titles: {
    cases: { get: 'GET one', query: 'tRPC query', create: 'POST' },
    contenders: { minimal: 'minimal <uWS>', gateway: 'this gateway', bun: 'Bun' },
  },
  results: [
    { ...measured, case: 'get', contender: 'minimal', perCore: 100_000, ratio: 1 },
    { ...measured, case: 'get', contender: 'gateway', perCore: 92_000, ratio: 0.92 },
    { ...measured, case: 'query', contender: 'gateway', perCore: 80_000, ratio: 0.8 },
    { ...measured, case: 'create', contender: 'minimal', perCore: 200_000, ratio: 1 },
  ],
  blanks: [{ contender: 'bun', reason: 'Bun is not available' }],
};

it.each([
  ['names the command and the day', '`npm run bench -- --quick`, 2026-11-20.'],
  [
    'gives each ratio with its spread, and a dash where a contender has none',
    '| this gateway | 0.92 ±2% | 0.80 ±2% | – |',
  ],
  [
    'gives the processor time of a request beside the rate by the clock',
    '| this gateway | 10.9 µs, 80/s | 12.5 µs, 80/s | – |',
  ],
  ['says which contender was not measured, and why', '- Bun: Bun is not available'],
  [
    'says how much of a core other programs used, and in how many measurements it was too much',
    'Other programs used 17% of a core (median), and more than 10% in 4 of 8 measurements.',
  ],
])('the report in Markdown %s', (_, line) => {
  expect(markdown(report).split('\n')).toContain(line);
});

it('the picture has a bar for each contender and case, and is well-formed', () => {
  const picture = svg(report);
  expect(picture.match(/<rect /g)).toHaveLength(4);
  expect(picture).toContain('minimal &lt;uWS>');
});
