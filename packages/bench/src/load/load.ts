/** The counts of a generator of load. */
export interface Load {
  readonly requests: number;
  readonly seconds: number;
}
