import type { Random } from '@petstore/testing/random';

/** A fault that a history may have. `begin` returns a function that ends it. */
export interface Fault {
  readonly name: string;
  readonly begin: (random: Random) => Ending | Promise<Ending>;
  /** What it may undo although it was acknowledged: then fewer rules hold. */
  readonly loses?: 'events' | 'keys' | 'both';
  /** Whether it takes back events of an epoch that goes on: who is told so once may miss several. */
  readonly rewinds?: boolean;
  /** Whether it ends processes: calls are cut in the middle. */
  readonly kills?: boolean;
  /** Whether it keeps from processes what they share. */
  readonly separates?: boolean;
}

type Ending = () => void | Promise<void>;

/** Of a fault that is over at once. */
export const isOver = (): void => {};
