import { readdir, readFile } from 'node:fs/promises';

/** A process and all that it started, and those in turn: it first. One that has ended is none. */
export async function processTree(pid: number): Promise<readonly number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const children = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')),
  );
  const pids = children.flatMap((text) => text.split(' ').filter(Boolean).map(Number));
  return [pid, ...(await Promise.all(pids.map(processTree))).flat()];
}

/** The processor time that a process has used, all threads that live, in seconds; 0 of one that has ended. */
export async function processorSeconds(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const nanoseconds = await Promise.all(
    threads.map(async (thread) => {
      const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0');
      return Number(text.split(' ')[0]);
    }),
  );
  return nanoseconds.reduce((sum, value) => sum + value, 0) / 1e9;
}
