import { median, spread } from '../statistics.ts';

/** One place on a curve. */
export interface Point {
  /** What it is a figure of: the curve's lines. */
  readonly line: string;
  /** The size that grows. */
  readonly size: number;
  /** Measures it once. */
  readonly measure: () => Promise<number>;
}

export interface PointResult {
  readonly line: string;
  readonly size: number;
  readonly value: number;
  readonly spread: number;
}

export interface Curve {
  readonly title: string;
  readonly unit: string;
  readonly points: readonly PointResult[];
}

export interface CurveOptions {
  readonly rounds: number;
  readonly seconds: number;
  /** The largest number of animals; whoever asks for ten million waits for them to be stored. */
  readonly maxAnimals: number;
  readonly onProgress: (text: string) => void;
}

/** Measures every point once a round, so that what else the machine does falls on all of them alike. */
export async function measurePoints(
  points: readonly Point[],
  { rounds, onProgress }: Pick<CurveOptions, 'rounds' | 'onProgress'>,
): Promise<readonly PointResult[]> {
  const values = points.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, { line, size, measure }] of points.entries()) {
      onProgress(`round ${round + 1} of ${rounds}: ${line}, ${size}`);
      values[index]?.push(await measure());
    }
  }
  return points.map(({ line, size }, index) => {
    const measured = values[index] ?? [];
    return { line, size, value: median(measured), spread: spread(measured) };
  });
}

/** A curve as a Markdown table: a row per line, a column per size. */
export function curveTable({ title, unit, points }: Curve): string {
  const sizes = [...new Set(points.map(({ size }) => size))].toSorted((a, b) => a - b);
  const lines = [...new Set(points.map(({ line }) => line))];
  const cell = (line: string, size: number) => {
    const point = points.find((each) => each.line === line && each.size === size);
    if (point === undefined) return '–';
    const digits = point.value < 100 ? 1 : 0;
    const value = point.value.toLocaleString('en-US', { maximumFractionDigits: digits });
    return point.spread > 0 ? `${value} ±${(point.spread * 100).toFixed(0)}%` : value;
  };
  return [
    `${title} (${unit}):\n`,
    `| | ${sizes.map((size) => size.toLocaleString('en-US')).join(' | ')} |`,
    `|---|${sizes.map(() => '--:|').join('')}`,
    ...lines.map((line) => `| ${line} | ${sizes.map((size) => cell(line, size)).join(' | ')} |`),
  ].join('\n');
}
