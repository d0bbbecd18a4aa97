import type { Step } from './session.ts';

const columns = 104;
const lineHeight = 19;
const characterWidth = 8.43;
const margin = 20;

/** Draws the steps as a terminal, in SVG. */
export function sessionSvg(steps: readonly Step[]): string {
  const lines = steps.flatMap(({ typed, printed }) => [
    ...typed.split('\n').map((text, index) => ({ kind: 'typed', text: `${index === 0 ? '$ ' : ''}${text}` })),
    ...printed
      .trim()
      .split('\n')
      .flatMap(wrapLine)
      .map((text) => ({ kind: 'printed', text })),
    { kind: 'printed', text: '' },
  ]);
  const width = Math.ceil(columns * characterWidth) + 2 * margin;
  const height = (lines.length - 1) * lineHeight + 2 * margin;
  const rows = lines.map(
    ({ kind, text }, index) =>
      `  <text class="${kind}" x="${margin}" y="${margin + (index + 0.75) * lineHeight}">${escapeXml(text)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
  <title>A terminal: the pet store starts and shows its key; curl adds an animal; a typed client lists it; a wrong call does not compile.</title>
  <style>
    text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre; fill: #c9d1d9; }
    .typed { fill: #7ee787; }
  </style>
  <rect width="100%" height="100%" rx="8" fill="#0d1117" />
${rows.filter((row) => !row.endsWith('></text>')).join('\n')}
</svg>
`;
}

/** Breaks a line like a terminal. */
const wrapLine = (line: string): readonly string[] => line.match(new RegExp(`.{1,${columns}}`, 'g')) ?? [''];

const escapeXml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
