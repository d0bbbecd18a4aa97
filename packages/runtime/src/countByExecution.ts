import type { Gateway, ServedProcedure } from 'trpc-gateway';

/** Counts procedures by their execution path. */
export function countByExecution({
  procedures,
}: Pick<Gateway, 'procedures'>): Readonly<Record<ServedProcedure['execution'], number>> {
  const counts = { compiled: 0, trpc: 0 };
  for (const { execution } of procedures) counts[execution] += 1;
  return counts;
}
