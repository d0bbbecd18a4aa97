import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
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
    await Promise.all(started.map((each) => once(each, 'message')));
    return await Promise.all(
      started.map(async (each) => {
        const response = once(each, 'message');
        each.send('go');
        const [{ accepted }] = (await response) as [{ readonly accepted: number }];
        return accepted;
      }),
    );
  } finally {
    for (const each of started) each.kill('SIGKILL');
  }
}
