import { expect, it } from 'vitest';
import { workerCores } from '../cores.ts';
import { note } from './workers.ts';

it('leaves the load a core to itself where there are three, and says what two cannot show', () => {
  expect([2, 3, 4].map(workerCores)).toEqual([
    [0, 1],
    [0, 2],
    [0, 2, 3],
  ]);
  expect(note(2)).toContain('a second worker has only what it leaves');
  expect(note(3)).toContain('The load has one of 3 cores to itself');
});
