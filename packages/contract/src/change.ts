/** One difference between two documents. */
export interface Change {
  /** Whether a client that was right before may be wrong now, or its generated types no longer fit. */
  readonly isBreaking: boolean;
  /** Where it is and what it is, in words: one sentence without a full stop, the same for the same change. */
  readonly sentence: string;
}
