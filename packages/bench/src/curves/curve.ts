import { median, spread } from '../statistics.ts';

/** One place on a curve's lines. */
export interface Point {
  /** The name of the measurement, for progress output. */
  readonly name: string;
  /** The size that grows. */
  readonly size: number;
  /** Measures it once: a figure for each line. */
  readonly measure: () => Promise<Readonly<Record<string, number>>>;
}

export interface PointResult {
  readonly line: string;
  readonly size: number;
  /** The median of the rounds. */
  readonly value: number;
  readonly spread: number;
  readonly rounds: readonly number[];
}

export interface Curve {
  readonly title: string;
  readonly unit: string;
  readonly points: readonly PointResult[];
  /** Whether each line's largest size is set against its smallest: 1 is a cost that does not grow. Default: false. */
  readonly isCompared?: boolean;
  /** What the figures say and what they do not, on the machine they are of. */
  readonly note?: string;
}

export interface CurveOptions {
  readonly rounds: number;
  readonly seconds: number;
  /** The largest number of animals. Ten million take a while to store. */
  readonly maxAnimals: number;
  readonly onProgress: (text: string) => void;
}

/** Measures every point once a round, so that what else the machine does falls on all of them alike. */
export async function measurePoints(
  points: readonly Point[],
  { rounds, onProgress }: Pick<CurveOptions, 'rounds' | 'onProgress'>,
): Promise<readonly PointResult[]> {
  const values = points.map(() => new Map<string, number[]>());
  for (let round = 0; round < rounds; round++) {
    for (const [index, { name, size, measure }] of points.entries()) {
      onProgress(`round ${round + 1} of ${rounds}: ${name}, ${size}`);
      for (const [line, value] of Object.entries(await measure())) {
        values[index]?.set(line, [...(values[index]?.get(line) ?? []), value]);
      }
    }
  }
  return points.flatMap(({ size }, index) =>
    [...(values[index] ?? [])].map(([line, measured]) => ({
      line,
      size,
      value: median(measured),
      spread: spread(measured),
      rounds: measured,
    })),
  );
}

/** A line's last point over its first, round by round as they were measured side by side: the median. */
function growth(points: readonly PointResult[], line: string): number | undefined {
  const ofLine = points.filter((point) => point.line === line).toSorted((a, b) => a.size - b.size);
  const [first, last] = [ofLine[0], ofLine.at(-1)];
  if (first === undefined || last === undefined || first === last) return undefined;
  return median(last.rounds.map((value, round) => value / (first.rounds[round] ?? NaN)));
}

/** A curve as a Markdown table: a row per line, a column per size. */
export function curveTable({ title, unit, points, isCompared = false, note }: Curve): string {
  const sizes = [...new Set(points.map(({ size }) => size))].toSorted((a, b) => a - b);
  const heads = sizes.map((size) => size.toLocaleString('en-US'));
  if (isCompared) heads.push(`${heads.at(-1)} : ${heads[0]}`);
  const cell = (line: string, size: number) => {
    const point = points.find((each) => each.line === line && each.size === size);
    if (point === undefined) return '–';
    const digits = point.value < 1 ? 2 : point.value < 100 ? 1 : 0;
    const value = point.value.toLocaleString('en-US', { maximumFractionDigits: digits });
    return point.spread > 0 ? `${value} ±${(point.spread * 100).toFixed(0)}%` : value;
  };
  const row = (line: string) => [
    line,
    ...sizes.map((size) => cell(line, size)),
    ...(isCompared ? [growth(points, line)?.toFixed(2) ?? '–'] : []),
  ];
  const lines = [...new Set(points.map(({ line }) => line))];
  return [
    `${title} (${unit}):\n`,
    `| | ${heads.join(' | ')} |`,
    `|---|${heads.map(() => '--:|').join('')}`,
    ...lines.map((line) => `| ${row(line).join(' | ')} |`),
    ...(note === undefined ? [] : ['', note]),
  ].join('\n');
}
