import type { CallWay, Gateway } from '@petstore/gateway';

/** How many procedures are called which way: all of the pet store's directly, as long as none has a middleware. */
export function proceduresByWay({
  procedures,
}: Pick<Gateway, 'procedures'>): Readonly<Record<CallWay, number>> {
  const counts: Record<CallWay, number> = { direct: 0, chain: 0, trpc: 0 };
  for (const { way } of procedures) counts[way] += 1;
  return counts;
}
