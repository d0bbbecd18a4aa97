import { describe, expect, test } from 'vitest';
import { review } from './review.ts';

const gone = { isBreaking: true, sentence: 'The path /a is gone' };
const added = { isBreaking: false, sentence: 'The path /b is new' };

describe('a review of changes', () => {
  test('names the breaking ones that nobody announced', () => {
    expect(review([gone, added], []).unannounced).toEqual([gone]);
  });

  test('lets announced ones pass, with their reason', () => {
    const { changes, unannounced, idle } = review([gone, added], [{ change: gone.sentence, why: 'Sunset.' }]);
    expect(changes).toEqual([
      { ...gone, why: 'Sunset.' },
      { ...added, why: undefined },
    ]);
    expect(unannounced).toEqual([]);
    expect(idle).toEqual([]);
  });

  test.for([
    ['of what has not changed', 'The path /c is gone'],
    ['of what does not break', added.sentence],
  ] as const)('names announcements %s', ([, change]) => {
    const announcement = { change, why: 'None.' };
    expect(review([added], [announcement]).idle).toEqual([announcement]);
  });
});
