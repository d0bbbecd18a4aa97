import type { ResponseMeta } from '@trpc/server/http';

/** Statuses of responses without a body (RFC 9110 §6.4.1). */
export const bodilessStatuses: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * Yields the headers that `responseMeta` returned, and whether each replaces earlier values. As in tRPC, only a single
 * string replaces them; values of a list and of `Headers` are appended.
 */
export function* metaHeaders({
  headers,
}: ResponseMeta): Generator<[name: string, value: string, isReplacing: boolean]> {
  if (headers instanceof Headers) {
    for (const [name, value] of headers) yield [name, value, false];
    return;
  }
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (Array.isArray(value)) for (const item of value) yield [name.toLowerCase(), item, false];
    else if (typeof value === 'string') yield [name.toLowerCase(), value, true];
  }
}
