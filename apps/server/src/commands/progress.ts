import type { CopyProgress } from '@petstore/embedded-store/copy';

/** Minimum time between two lines. */
const lineMs = 5_000;

/** Writes the progress of a copy: a line at the start and at the end of each step, and one every 5 s. */
export function showProgress(write: (line: string) => unknown, now: () => number = () => performance.now()) {
  let step: string | undefined;
  let startedAt = 0;
  let shownAt = 0;
  return ({ phase, collection, done, total }: CopyProgress): void => {
    const at = now();
    if (step !== `${phase} ${collection}`) {
      step = `${phase} ${collection}`;
      startedAt = at;
    } else if (done < total && at - shownAt < lineMs) return;
    shownAt = at;
    const percent = total === 0 ? 100 : Math.floor(Math.min(done / total, 1) * 100);
    const rate = at > startedAt ? `, ${formatNumber((done * 1_000) / (at - startedAt))}/s` : '';
    write(`${phase} ${formatNumber(done)} of ${formatNumber(total)} ${collection}${rate} (${percent} %)\n`);
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
