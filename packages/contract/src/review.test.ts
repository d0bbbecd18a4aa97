import { describe, expect, test } from 'vitest';
import { review } from './review.ts';

const gone = { isBreaking: true, sentence: 'The path /a is gone' };
const added = { isBreaking: false, sentence: 'The path /b is new' };

describe('review', () => {
  test('review returns unannounced breaking changes', () => {
    expect(review([gone, added], []).unannounced).toEqual([gone]);
  });

  test('review accepts announced breaking changes and returns their reasons', () => {
    const { changes, unannounced, unused } = review(
      [gone, added],
      [{ change: gone.sentence, why: 'Sunset.' }],
    );
    expect(changes).toEqual([
      { ...gone, why: 'Sunset.' },
      { ...added, why: undefined },
    ]);
    expect(unannounced).toEqual([]);
    expect(unused).toEqual([]);
  });

  test.for([
    ['a change that did not happen', 'The path /c is gone'],
    ['a change that is not breaking', added.sentence],
  ] as const)('review returns an announcement of %s as unused', ([, change]) => {
    const announcement = { change, why: 'None.' };
    expect(review([added], [announcement]).unused).toEqual([announcement]);
  });
});
