import { cases } from './cases.ts';
import { contenders, type Suite } from './contenders.ts';
import { httpArena } from './httpArena/httpArena.ts';

/** The pet store's cases, and those of HttpArena, written again for the same work (docs/bench/published.md). */
export const suites: Readonly<Record<string, Suite>> = {
  pets: { cases, contenders },
  'http-arena': httpArena,
};
