/** A difference between two contracts. */
export interface Change {
  /** Whether it may break a client that was correct before, or its generated types. */
  readonly isBreaking: boolean;
  /** Location and description: a sentence without a full stop. The same change always has the same sentence. */
  readonly sentence: string;
}
