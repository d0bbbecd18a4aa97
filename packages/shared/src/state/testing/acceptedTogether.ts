import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { nextMessage } from '@petstore/testing/nextMessage';
import type { State } from 'trpc-gateway';
import type { LimitedOptions } from './limitedProcess.ts';

const file = fileURLToPath(new URL('limitedProcess.ts', import.meta.url));

/** Starts processes that share a limit and call concurrently. Returns how many calls of each were accepted. */
export async function acceptedTogether(
  processes: number,
  options: LimitedOptions,
): Promise<readonly number[]> {
  const started = Array.from({ length: processes }, () =>
    fork(file, [JSON.stringify(options)], { execArgv: ['--conditions=trpc-gateway-source'] }),
  );
  try {
    await Promise.all(started.map(nextMessage));
    return await Promise.all(
      started.map(async (each) => {
        const response = nextMessage(each);
        each.send('go');
        return ((await response) as { readonly accepted: number }).accepted;
      }),
    );
  } finally {
    for (const each of started) each.kill('SIGKILL');
  }
}

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
