/** What a generator of load counted. */
export interface Load {
  readonly requests: number;
  readonly seconds: number;
}
