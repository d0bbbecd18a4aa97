import { describe, expect, it } from 'vitest';
import { markdown } from './markdown.ts';
import type { Report } from './report.ts';
import { svg } from './svg.ts';

const measured = { rate: 80, busy: 1, spread: 0.02, clockRatio: 1, rounds: [] };
const report: Report = {
  at: '2026-11-20T00:00:00.000Z',
  machine: { processor: 'A processor', cores: 2, node: 'v22.0.0' },
  rounds: 5,
  seconds: 2,
  titles: {
    cases: { get: 'GET one', socket: 'WebSocket call' },
    contenders: {
      minimal: 'bare <uWS>',
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
    { ...measured, case: 'socket', contender: 'minimal', perCore: 200_000, ratio: 1 },
  ],
  blanks: [
    { contender: 'node', case: 'socket', reason: 'it has no WebSockets' },
    { contender: 'bun', reason: 'Bun cannot be had' },
  ],
  latencies: [
    {
      case: 'get',
      contender: 'gateway',
      part: 0.5,
      rate: 1_000,
      p50: 0.1,
      p99: 2,
      p999: 12,
      max: 20,
      ownDelay: 1,
      achieved: 900,
    },
  ],
  starts: [{ contender: 'gateway', startMs: 150.4, idleMb: 70.2, loadedMb: 90 }],
};

describe('the report in Markdown', () => {
  const lines = markdown(report).split('\n');

  it('gives each ratio with its spread, and a dash where a contender has none', () => {
    expect(lines).toContain('| this gateway | 0.92 ±2% | – |');
  });

  it('keeps stores that keep what they are given apart from the comparison', () => {
    expect(lines).toContain('| kept | 80 (100%) | – |');
    expect(lines.filter((line) => line.startsWith('| kept'))).toHaveLength(1);
  });

  it('compares nothing where only such stores were measured', () => {
    const alone = markdown({
      ...report,
      results: report.results.filter(({ contender }) => contender === 'kept'),
    });
    expect(alone).toContain('| kept | 80 (100%) |');
    expect(alone).not.toContain('Ratio to `minimal`');
  });

  it('says of a latency when the load itself was late, and when the server did not keep up', () => {
    expect(lines).toContain(
      '| this gateway | GET one | 1,000 (50%) | 0.10 | 2.00 | 12 | p99 1.00 | only 900/s |',
    );
  });

  it('says what was not measured, and why', () => {
    expect(lines).toContain('- node:http: it has no WebSockets (socket)');
    expect(lines).toContain('- Bun: Bun cannot be had (SKIPPED)');
  });
});

describe('the report as a picture', () => {
  it('has a bar for each ratio of the comparison, and is well-formed', () => {
    const picture = svg(report);
    expect(picture.match(/<rect /g)).toHaveLength(3);
    expect(picture).toContain('bare &lt;uWS>');
  });
});
