/** `fetch` with options that may be `undefined`, as `@trpc/client` passes them under `exactOptionalPropertyTypes`. */
export type Fetch = (
  input: string | URL | Request,
  init?: { readonly [Option in keyof RequestInit]: RequestInit[Option] | undefined },
) => Promise<Response>;

/** Node's `fetch`, which treats `undefined` as an option that is not set. */
export const globalFetch = globalThis.fetch as Fetch;
