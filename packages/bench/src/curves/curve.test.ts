import { describe, expect, it } from 'vitest';
import { curveTable, measurePoints } from './curve.ts';

describe('the points of a curve', () => {
  it('a curve measures each size once a round, in turn, and reports the median of each line', async () => {
    const progress: string[] = [];
    const point = (size: number, rates: number[]) => ({
      name: 'GET one',
      size,
      measure: async () => {
        const rate = rates.shift() ?? NaN;
        return { rate, cost: 1 / rate };
      },
    });
    const points = await measurePoints([point(1, [10, 20, 40]), point(2, [5, 4, 5])], {
      rounds: 3,
      onProgress: (text) => progress.push(text),
    });
    expect(points).toEqual([
      { line: 'rate', size: 1, value: 20, spread: 0.75, rounds: [10, 20, 40] },
      { line: 'cost', size: 1, value: 0.05, spread: expect.closeTo(0.75), rounds: [0.1, 0.05, 0.025] },
      { line: 'rate', size: 2, value: 5, spread: 0.1, rounds: [5, 4, 5] },
      { line: 'cost', size: 2, value: 0.2, spread: expect.closeTo(0.125), rounds: [0.2, 0.25, 0.2] },
    ]);
    expect(progress.slice(0, 3)).toEqual([
      'round 1 of 3: GET one, 1',
      'round 1 of 3: GET one, 2',
      'round 2 of 3: GET one, 1',
    ]);
  });
});

describe('a curve as a table', () => {
  const points = [
    { line: 'GET one', size: 10, value: 4_000, spread: 0, rounds: [4_000, 5_000, 3_000] },
    { line: 'GET one', size: 1_000, value: 12_345.6, spread: 0.04, rounds: [3_000, 4_500, 3_000] },
    { line: 'p50, ms', size: 1_000, value: 0.061, spread: 0, rounds: [0.061] },
  ];

  it('has a row for each line and a column for each size, and a dash where nothing was measured', () => {
    expect(curveTable({ title: 'Connections', unit: 'a second', points })).toBe(
      [
        'Connections (a second):\n',
        '| | 10 | 1,000 |',
        '|---|--:|--:|',
        '| GET one | 4,000 | 12,346 ±4% |',
        '| p50, ms | – | 0.06 |',
      ].join('\n'),
    );
  });

  it('the growth of a cost is the ratio of the largest size to the smallest, round by round', () => {
    const table = curveTable({ title: 'Animals', unit: 'a second', points, isCompared: true });
    expect(table.split('\n').slice(2)).toEqual([
      '| | 10 | 1,000 | 1,000 : 10 |',
      '|---|--:|--:|--:|',
      // Of 0.75, 0.9 and 1 the one in the middle: not the medians over one another.
      '| GET one | 4,000 | 12,346 ±4% | 0.90 |',
      '| p50, ms | – | 0.06 | – |',
    ]);
  });

  it('says below it what the figures do not', () => {
    const table = curveTable({ title: 'Connections', unit: 'a second', points, note: 'Of one core.' });
    expect(table.endsWith('| p50, ms | – | 0.06 |\n\nOf one core.')).toBe(true);
  });
});
