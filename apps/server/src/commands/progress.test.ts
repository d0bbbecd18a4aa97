import { expect, test } from 'vitest';
import { showProgress } from './progress.ts';

test('showProgress writes the first line of each step, one every 5 s, and the last', () => {
  let text = '';
  let now = 0;
  const show = showProgress(
    (line) => (text += line),
    () => now,
  );
  for (const [at, phase, done] of [
    [1_000, 'copying', 0],
    [3_000, 'copying', 500],
    [6_000, 'copying', 1_000],
    [7_000, 'copying', 2_000],
    [7_001, 'verifying', 1_000],
  ] as const) {
    now = at;
    show({ phase, collection: 'animals', done, total: 2_000 });
  }
  expect(text).toBe(
    [
      'copying 0 of 2,000 animals (0 %)\n',
      'copying 1,000 of 2,000 animals, 200/s (50 %)\n',
      'copying 2,000 of 2,000 animals, 333/s (100 %)\n',
      'verifying 1,000 of 2,000 animals (50 %)\n',
    ].join(''),
  );
});
