import { expect, it } from 'vitest';
import { markdown, summary } from './markdown.ts';
import type { Report } from './report.ts';
import { svg } from './svg.ts';

const measured = {
  rate: 80,
  busy: 1,
  spread: 0.02,
  peerRatio: undefined,
  ownRatio: undefined,
  loss: undefined,
  rounds: [],
};
const report: Report = {
  at: '2026-11-20T00:00:00.000Z',
  command: 'npm run bench -- --quick',
  machine: { processor: 'A processor', cores: 2, node: 'v22.0.0' },
  rounds: 5,
  seconds: 2,
  titles: {
    cases: { get: 'GET one', notFound: '404', socket: 'WebSocket call' },
    contenders: {
      minimal: 'minimal <uWS>',
      gateway: 'this gateway',
      node: 'node:http',
      bun: 'Bun',
      kept: 'kept',
    },
  },
  stores: { minimal: 'memory', gateway: 'memory', node: 'memory', bun: 'memory', kept: 'embedded' },
  results: [
    { ...measured, case: 'get', contender: 'minimal', perCore: 100_000, ratio: 1 },
    { ...measured, case: 'get', contender: 'gateway', perCore: 92_000, ratio: 0.92 },
    { ...measured, case: 'get', contender: 'kept', perCore: 50_000, ratio: 0.5 },
    { ...measured, case: 'notFound', contender: 'gateway', perCore: 80_000, ratio: 0.8, ownRatio: 0.87 },
    { ...measured, case: 'socket', contender: 'minimal', perCore: 200_000, ratio: 1 },
  ],
  blanks: [
    { contender: 'node', case: 'socket', reason: 'it has no WebSockets' },
    { contender: 'bun', reason: 'Bun is not available' },
  ],
  starts: [{ contender: 'gateway', startMs: 150.4, idleMb: 70.2, loadedMb: 90 }],
};

const lines = markdown(report).split('\n');
const linesOf = (results: Report['results']) => markdown({ ...report, results }).split('\n');

it.each([
  ['names the command and the day', '`npm run bench -- --quick`, 2026-11-20.'],
  [
    'gives each ratio with its spread, and a dash where a contender has none',
    '| this gateway | 0.92 ±2% | 0.80 ±2% | – |',
  ],
  ['has a table of errors alone', '|  | 404 |'],
  ['sets errors beside the GET of the same contender', '| this gateway | 0.87 |'],
  [
    'gives the processor time of a request beside the rate by the clock',
    '| this gateway | 10.9 µs, 80/s | 12.5 µs, 80/s | – |',
  ],
  ['says which case was not measured, and why', '- node:http: it has no WebSockets (socket)'],
  ['says which contender was not measured, and why', '- Bun: Bun is not available (SKIPPED)'],
])('the report in Markdown %s', (_, line) => {
  expect(lines).toContain(line);
});

it('a call of a tool is set beside the official SDK and beside the POST of the same row, and in no ratio to `minimal`', () => {
  const call = { ...measured, case: 'mcp', perCore: 50_000, ratio: undefined };
  const text = markdown({
    ...report,
    results: [
      ...report.results,
      { ...call, contender: 'gateway', peerRatio: 10.4, ownRatio: 0.8 },
      { ...call, contender: 'sdk', perCore: 4_800, peerRatio: 1 },
    ],
    stores: { ...report.stores, sdk: 'memory' },
    titles: { ...report.titles, cases: { ...report.titles.cases, mcp: 'MCP tools/call' } },
  });
  const tableAfter = (title: string) => text.split(title)[1]?.split('\n\n')[1]?.split('\n');
  expect(tableAfter('Ratio to `minimal`')?.[0]).not.toContain('MCP');
  expect(tableAfter('MCP beside the official SDK')?.slice(2)).toEqual([
    '| this gateway | 10.40 |',
    '| sdk | 1.00 |',
  ]);
  expect(tableAfter('MCP beside the POST')?.slice(2)).toEqual(['| this gateway | 1.25 |']);
  expect(tableAfter('Processor time of one request')).toContain('| sdk | – | – | – | 208 µs, 80/s |');
});

it('the report says what each contender loses beside a neighbour, and how many times the loss of `minimal` that is', () => {
  const losses: Readonly<Record<string, number>> = { minimal: 0.2, gateway: 0.25 };
  const beside = linesOf(report.results.map((result) => ({ ...result, loss: losses[result.contender] })));
  expect(lines.join()).not.toContain('Beside a neighbour');
  expect(beside).toContain('| minimal <uWS> | 20% | – | 20% |');
  expect(beside).toContain('| this gateway | 25%, × 1.25 | 25% | – |');
});

it('the report says how much of a core other programs used, and in how many measurements it was too much', () => {
  const round = { rate: 80, perCore: 80, busy: 1, foreign: 0.04 };
  const rounds = [round, { ...round, foreign: 0.3 }];
  expect(linesOf(report.results.map((result) => ({ ...result, rounds })))).toContain(
    'Other programs used 17% of a core (median), and more than 10% in 5 of 10 measurements.',
  );
});

it('the summary has the times alone, without stores that keep what they are given', () => {
  expect(summary({ ...report, results: report.results.slice(0, 3) }).split('\n')).toEqual([
    '|  | GET one |',
    '|---|--:|',
    '| minimal <uWS> | 10.0 µs |',
    '| this gateway | 10.9 µs |',
  ]);
});

it('stores that keep what they are given are apart from the comparison, and alone compare nothing', () => {
  expect(lines.filter((line) => line.startsWith('| kept'))).toEqual(['| kept | 80 (100%) |']);
  const alone = linesOf(report.results.filter(({ contender }) => contender === 'kept'));
  expect(alone).toContain('| kept | 80 (100%) |');
  expect(alone.join()).not.toContain('Ratio to `minimal`');
});

it('the picture has a bar for each contender and case of the comparison, and is well-formed', () => {
  const picture = svg(report);
  expect(picture.match(/<rect /g)).toHaveLength(4);
  expect(picture).toContain('minimal &lt;uWS>');
});
