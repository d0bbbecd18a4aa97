import { foreignLimit } from '../measure.ts';
import { median, type Result } from '../throughput.ts';
import type { Report } from './report.ts';

export function markdown(report: Report): string {
  return [
    '# One run of the benchmark',
    `\`${report.command}\`, ${report.at.slice(0, 10)}.`,
    `Node ${report.machine.node.slice(1)}, ${report.machine.processor}: the server on one core, the load on another. ` +
      `Medians of ${report.rounds} interleaved rounds of ${report.seconds} s.`,
    ...(report.results.length > 0 ? [foreignLine(report)] : []),
    ...throughputTables(report),
  ].join('\n\n');
}

function throughputTables({ results, titles }: Report): readonly string[] {
  const tables: string[] = [];
  const add = (title: string, cell: (result: Result) => string, shown = (_result: Result) => true) => {
    const chosen = results.filter(shown);
    if (chosen.length > 0) tables.push(title, resultTable(chosen, titles, cell));
  };
  add(
    'Ratio to `minimal`, by processor time (± half the span of the rounds):',
    ({ ratio, spread }) => `${ratio?.toFixed(2)} ±${(spread * 100).toFixed(0)}%`,
    ({ ratio }) => ratio !== undefined,
  );
  add(
    'Processor time of one request, and how many a second by the clock:',
    ({ perCore, rate }) => `${time(perCore)}, ${whole(rate)}/s`,
  );
  return tables;
}

/** A row per contender, a column per case, and a dash where a contender was not measured. */
function resultTable(
  results: readonly Result[],
  titles: Report['titles'],
  cell: (result: Result) => string,
): string {
  const cases = [...new Set(results.map((result) => result.case))];
  const contenders = [...new Set(results.map((result) => result.contender))];
  const cellOf = (name: string, subject: string) => {
    const match = results.find((result) => result.contender === name && result.case === subject);
    return match ? cell(match) : '–';
  };
  const rows = contenders.map((name) =>
    [titles.contenders[name] ?? name].concat(cases.map((subject) => cellOf(name, subject))),
  );
  return table(['', ...cases.map((name) => titles.cases[name] ?? name)], rows);
}

function foreignLine({ results }: Report): string {
  const foreign = results.flatMap(({ rounds }) => rounds.map((round) => round.foreign));
  const disturbed = foreign.filter((part) => part > foreignLimit).length;
  const percent = (part: number) => `${(part * 100).toFixed(0)}%`;
  return (
    `Other programs used ${percent(median(foreign))} of a core (median), and more than ${percent(foreignLimit)} ` +
    `in ${disturbed} of ${foreign.length} measurements.`
  );
}

const whole = (value: number) => Math.round(value).toLocaleString('en-US');
/** The processor time of one of so many that are served in a second of it. */
function time(perCore: number): string {
  const microseconds = 1e6 / perCore;
  return `${microseconds.toFixed(microseconds < 10 ? 2 : microseconds < 100 ? 1 : 0)} µs`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = `|${head.map((_, index) => (index === 0 ? '---' : '--:')).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}
