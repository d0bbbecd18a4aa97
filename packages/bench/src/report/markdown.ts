import type { Result } from '../throughput.ts';
import type { Report } from './report.ts';

/** The report as Markdown tables. */
export function markdown(report: Report): string {
  return [
    `Node ${report.machine.node.slice(1)}, ${report.machine.processor}: the server on one core, the load on another. ` +
      `Medians of ${report.rounds} interleaved rounds of ${report.seconds} s.`,
    ...throughputTables(report),
    ...latencyTable(report),
    ...startTable(report),
    ...blankList(report),
  ].join('\n\n');
}

function throughputTables(report: Report): readonly string[] {
  const { results, titles, stores } = report;
  if (results.length === 0) return [];
  const cases = namesOf(results, (result) => result.case);
  const contenders = namesOf(results, (result) => result.contender);
  const byKey = new Map(results.map((result) => [`${result.contender} ${result.case}`, result]));
  const cellOf = (name: string, subject: string, cell: (result: Result) => string) => {
    const result = byKey.get(`${name} ${subject}`);
    return result ? cell(result) : '–';
  };
  const rows = (inMemory: boolean, cell: (result: Result) => string) =>
    contenders
      .filter((name) => (stores[name] === 'memory') === inMemory)
      .map((name) =>
        [titles.contenders[name] ?? name].concat(cases.map((subject) => cellOf(name, subject, cell))),
      );
  const head = ['', ...cases.map((name) => titles.cases[name] ?? name)];
  const tables: string[] = [];
  const ratios = rows(
    true,
    ({ ratio, spread }) => `${ratio?.toFixed(2) ?? '–'} ±${(spread * 100).toFixed(0)}%`,
  );
  if (ratios.length > 0) {
    tables.push(
      'Ratio to `minimal`, by processor time (± half the span of the rounds):',
      table(head, ratios),
      'A second of processor time:',
      table(
        head,
        rows(true, ({ perCore }) => whole(perCore)),
      ),
    );
  }
  const stored = rows(false, ({ rate, busy }) => `${whole(rate)} (${(busy * 100).toFixed(0)}%)`);
  if (stored.length > 0) {
    tables.push(
      'Stores that keep what they are given, a second by the clock (part of the time the core was used). ' +
        'Beside LMDB alone: `npm run bench:creates`; beside the bare MongoDB driver: `npm run bench:mongodb`.',
      table(head, stored),
    );
  }
  return tables;
}

function latencyTable({ latencies, titles }: Report): readonly string[] {
  if (latencies.length === 0) return [];
  const rows = latencies.map((latency) => [
    titles.contenders[latency.contender] ?? latency.contender,
    titles.cases[latency.case] ?? latency.case,
    `${whole(latency.rate)} (${latency.part * 100}%)`,
    milliseconds(latency.p50),
    milliseconds(latency.p99),
    milliseconds(latency.p999),
    latency.ownDelay > latency.p99 / 4 ? `p99 ${milliseconds(latency.ownDelay)}` : '',
    latency.achieved < latency.rate * 0.98 ? `only ${whole(latency.achieved)}/s` : '',
  ]);
  const head = [
    '',
    'case',
    'offered/s (of its maximum)',
    'p50',
    'p99',
    'p99.9',
    "load's own delay",
    'kept up',
  ];
  return [
    'Milliseconds from when a request was due, at a fixed offered rate (coordinated omission counted):',
    table(head, rows),
  ];
}

function startTable({ starts, titles }: Report): readonly string[] {
  if (starts.length === 0) return [];
  const rows = starts.map(({ contender, startMs, idleMb, loadedMb }) => [
    titles.contenders[contender] ?? contender,
    startMs.toFixed(0),
    idleMb.toFixed(0),
    loadedMb.toFixed(0),
  ]);
  return [
    'Start, and resident memory (ours as `npm start` runs it, bundled; the others from source):',
    table(['', 'first answer, ms', 'idle, MB', 'after load, MB'], rows),
  ];
}

function blankList({ blanks, titles }: Report): readonly string[] {
  if (blanks.length === 0) return [];
  const grouped = new Map<string, string[]>();
  for (const { contender, case: subject, reason } of blanks) {
    const key = `${titles.contenders[contender] ?? contender}: ${reason}`;
    grouped.set(key, [...(grouped.get(key) ?? []), subject === undefined ? 'SKIPPED' : subject]);
  }
  return [
    'Not measured:',
    [...grouped].map(([key, subjects]) => `- ${key} (${subjects.join(', ')})`).join('\n'),
  ];
}

const namesOf = (results: readonly Result[], name: (result: Result) => string) => [
  ...new Set(results.map(name)),
];

const whole = (value: number) => Math.round(value).toLocaleString('en-US');
const milliseconds = (value: number) => value.toFixed(value < 10 ? 2 : 0);

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const rule = `|${head.map((_, index) => (index === 0 ? '---' : '--:')).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}
