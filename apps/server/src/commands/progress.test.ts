import { describe, expect, test } from 'vitest';
import { showProgress } from './progress.ts';

/** Returns the output for steps at given times in milliseconds. */
function written(isTTY: boolean, steps: readonly (readonly [at: number, done: number])[]): string {
  let text = '';
  let now = 0;
  const progress = showProgress({ isTTY, write: (more) => (text += more) }, () => now);
  for (const [at, done] of steps) {
    now = at;
    progress.show({ phase: 'copying', collection: 'animals', done, total: 2_000 });
  }
  progress.end();
  return text;
}

describe('progress', () => {
  test('showProgress updates a bar on a terminal at most 10 times a second', () => {
    const steps = [
      [1_000, 0],
      [1_050, 100],
      [1_100, 500],
      [2_000, 2_000],
    ] as const;
    expect(written(true, steps)).toBe(
      [
        `\r[${'.'.repeat(30)}]  0 % copying 0 of 2,000 animals\u001B[K`,
        `\r[${'#'.repeat(8)}${'.'.repeat(22)}] 25 % copying 500 of 2,000 animals, 5,000/s\u001B[K`,
        `\r[${'#'.repeat(30)}]100 % copying 2,000 of 2,000 animals, 2,000/s\u001B[K\n`,
      ].join(''),
    );
  });

  test('showProgress without a terminal writes the first line, one every 5 s, and the last', () => {
    const steps = [
      [1_000, 0],
      [3_000, 500],
      [6_000, 1_000],
      [7_000, 2_000],
    ] as const;
    expect(written(false, steps)).toBe(
      [
        'copying 0 of 2,000 animals (0 %)\n',
        'copying 1,000 of 2,000 animals, 200/s (50 %)\n',
        'copying 2,000 of 2,000 animals, 333/s (100 %)\n',
      ].join(''),
    );
  });
});
