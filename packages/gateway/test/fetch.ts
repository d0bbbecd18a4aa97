/** `fetch`, for callers whose types say that an option may be `undefined`, as those of `@trpc/client` do. */
export type Fetch = (
  input: string | URL | Request,
  init?: { readonly [Option in keyof RequestInit]: RequestInit[Option] | undefined },
) => Promise<Response>;

/** The `fetch` of Node. It takes `undefined` for an option that is not set. */
export const globalFetch = globalThis.fetch as Fetch;
