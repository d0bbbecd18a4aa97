import type { Report } from './report.ts';

const width = 860;
const labelWidth = 270;
const rowHeight = 16;
const groupGap = 34;
const barWidth = width - labelWidth - 150;

/** Ours in one colour, all others grey: on light and dark pages alike. */
const colorOf = (contender: string) => (contender.startsWith('gateway') ? '#2f7ef0' : '#b9bec7');

/** The report as a picture: for each case, a bar per contender, in the order of the tables. */
export function svg({ results, titles }: Report): string {
  const parts: string[] = [];
  let y = 40;
  for (const subject of new Set(results.map((result) => result.case))) {
    parts.push(text(0, y, titles.cases[subject] ?? subject, 'class="case"'));
    y += 8;
    const bars = results.filter((result) => result.case === subject);
    const longest = Math.max(...bars.map(({ perCore }) => perCore));
    for (const { contender, perCore } of bars) {
      const length = Math.max((perCore / longest) * barWidth, 1).toFixed(1);
      const middle = y + rowHeight / 2 + 4;
      parts.push(
        text(labelWidth - 8, middle, titles.contenders[contender] ?? contender, 'text-anchor="end"'),
        `<rect x="${labelWidth}" y="${y + 2}" width="${length}" height="${rowHeight - 4}" fill="${colorOf(contender)}"/>`,
        text(labelWidth + Number(length) + 6, middle, compact(perCore)),
      );
      y += rowHeight;
    }
    y += groupGap;
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" width="${width}" height="${y}" role="img">`,
    '<title>Requests per second of processor time</title>',
    '<style>text{font:12px system-ui,sans-serif;fill:#767c86}.case{font-weight:600;font-size:13px}</style>',
    text(0, 14, 'Requests per second of processor time (longer is better)'),
    ...parts,
    '</svg>\n',
  ].join('\n');
}

const text = (x: number, y: number, content: string, attributes = '') =>
  `<text x="${x}" y="${y}" ${attributes}>${content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;

const compact = (value: number) =>
  value >= 10_000
    ? `${Math.round(value / 1000)}k`
    : value >= 1_000
      ? `${(value / 1000).toFixed(1)}k`
      : value.toFixed(0);
