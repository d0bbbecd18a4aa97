import type { CopyProgress } from '@petstore/core/copy';

/** Where progress is shown: stderr, or what a test takes for it. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Between two pictures of the bar, and between two lines where there is no terminal, in milliseconds. */
const barMs = 100;
const lineMs = 5_000;
const barWidth = 30;

/** Shows how far a copy is: a bar that is drawn over itself on a terminal, plain lines elsewhere. */
export function showProgress(stream: ProgressStream, now: () => number = () => performance.now()) {
  const isTTY = stream.isTTY === true;
  let phase: string | undefined;
  let since = 0;
  let shownAt = 0;
  return {
    show(progress: CopyProgress): void {
      const { collection, done, total } = progress;
      const at = now();
      const step = `${progress.phase} ${collection}`;
      if (step !== phase) {
        phase = step;
        since = at;
        if (isTTY && shownAt > 0) stream.write('\n');
      } else if (done < total && at - shownAt < (isTTY ? barMs : lineMs)) return;
      shownAt = at;
      const share = total === 0 ? 1 : Math.min(done / total, 1);
      const rate = at > since ? `, ${number((done * 1_000) / (at - since))}/s` : '';
      const text = `${progress.phase} ${number(done)} of ${number(total)} ${collection}${rate}`;
      const percent = `${Math.floor(share * 100)} %`.padStart(5);
      const bar = '#'.repeat(Math.round(share * barWidth)).padEnd(barWidth, '.');
      // ESC [K clears what a longer line left.
      stream.write(isTTY ? `\r[${bar}]${percent} ${text}\u001B[K` : `${text} (${percent.trim()})\n`);
    },
    end(): void {
      if (isTTY && shownAt > 0) stream.write('\n');
    },
  };
}

/** A number for people: 1,000. */
export const number = (value: number) => Math.round(value).toLocaleString('en');

/** A count of records, such as `1 animal` or `2 animals`. */
export const countOf = (
  records: number,
  { name, recordName }: { readonly name: string; readonly recordName: string },
) => `${number(records)} ${records === 1 ? recordName : name}`;

/** So many of something, with the plural's s. */
export const count = (of: number, what: string) => `${number(of)} ${what}${of === 1 ? '' : 's'}`;
