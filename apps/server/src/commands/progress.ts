import type { CopyProgress } from '@petstore/embedded-store/copy';

/** The output stream for progress: stderr, or a test's replacement. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Minimum time between two updates of the bar on a terminal. */
const barMs = 100;
/** Minimum time between two lines without a terminal. */
const lineMs = 5_000;
const barWidth = 30;

/** Shows the progress of a copy: an updating bar on a terminal, lines elsewhere. */
export function showProgress(stream: ProgressStream, now: () => number = () => performance.now()) {
  const isTTY = stream.isTTY === true;
  let phase: string | undefined;
  let startedAt = 0;
  let shownAt = 0;
  return {
    show(progress: CopyProgress): void {
      const { collection, done, total } = progress;
      const at = now();
      const step = `${progress.phase} ${collection}`;
      if (step !== phase) {
        phase = step;
        startedAt = at;
        if (isTTY && shownAt > 0) stream.write('\n');
      } else if (done < total && at - shownAt < (isTTY ? barMs : lineMs)) return;
      shownAt = at;
      const share = total === 0 ? 1 : Math.min(done / total, 1);
      const rate = at > startedAt ? `, ${formatNumber((done * 1_000) / (at - startedAt))}/s` : '';
      const text = `${progress.phase} ${formatNumber(done)} of ${formatNumber(total)} ${collection}${rate}`;
      const percent = `${Math.floor(share * 100)} %`.padStart(5);
      const bar = '#'.repeat(Math.round(share * barWidth)).padEnd(barWidth, '.');
      // ESC [K clears the rest of a longer previous line.
      stream.write(isTTY ? `\r[${bar}]${percent} ${text}\u001B[K` : `${text} (${percent.trim()})\n`);
    },
    end(): void {
      if (isTTY && shownAt > 0) stream.write('\n');
    },
  };
}

/** Formats a number, such as `1,000`. */
export const formatNumber = (value: number) => Math.round(value).toLocaleString('en');

/** Formats a count of records, such as `1 animal` or `2 animals`. */
export const formatRecordCount = (
  records: number,
  { name, recordName }: { readonly name: string; readonly recordName: string },
) => `${formatNumber(records)} ${records === 1 ? recordName : name}`;

/** Formats a count with a noun, such as `1 API key` or `2 API keys`. */
export const formatCount = (of: number, what: string) => `${formatNumber(of)} ${what}${of === 1 ? '' : 's'}`;
