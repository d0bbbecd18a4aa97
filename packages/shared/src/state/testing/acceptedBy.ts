import type { State } from 'trpc-gateway';

/** Calls each of the states, some calls of each at once. @returns how many of the calls were accepted */
export async function acceptedBy(states: readonly State[], calls: number, limit: number): Promise<number> {
  const bucket = { size: limit, windowMs: 3_600_000 };
  let left = calls;
  let taken = 0;
  const callers = [...states, ...states].map(async (state) => {
    while (left > 0) {
      left -= 1;
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      if ((await state.take('a', 1, bucket)).isTaken) taken += 1;
    }
  });
  await Promise.all(callers);
  return taken;
}
