/** What `tracked(id, data)` of tRPC returns: `[id, data, symbol]`. */
export type TrackedEnvelope = readonly [id: string, data: unknown, marker: symbol];

/**
 * Whether an event is one of `tracked()`, also of another copy of @trpc/server: a router that was compiled to CommonJS
 * loads its own, and the symbol is one of each copy. No JSON has a symbol.
 */
export const isTrackedEnvelope = (value: unknown): value is TrackedEnvelope =>
  Array.isArray(value) && value.length === 3 && typeof value[2] === 'symbol';
