import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { lives } from '@petstore/testing/lives';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { apiKey, newFolder } from '../testing/newFolder.ts';
import { logLines, type RunningServer, workersOf } from '../testing/petStoreProcess.ts';
import { createHead } from '../testing/petCalls.ts';

const env = { API_KEY: apiKey, WORKERS: '2' };

/** Waits until a check passes. The timeout allows for a busy machine. */
const until = (check: () => unknown) => vi.waitFor(check, { interval: 5 });

/** Returns the ids of running child processes. */
const childrenOf = ({ child: { pid } }: Pick<RunningServer, 'child'>) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);

/**
 * Starts calls with incomplete bodies, enough for every worker to have one.
 * @returns a function that ends them
 */
async function holdCalls(origin: string): Promise<() => void> {
  const { hostname, port } = new URL(origin);
  const sockets = Array.from({ length: 12 }, () => connect(Number(port), hostname).on('error', () => {}));
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(end);
  for (const socket of sockets) socket.write(`${createHead(9)}{`);
  await sleep(300);
  return end;
}

// Only Linux distributes the connections of a port.
describe.runIf(process.platform === 'linux')('WORKERS=2', () => {
  test('a worker that gets SIGTERM is replaced once, before it has ended', async () => {
    const { serve } = await newFolder();
    const server = await serve({ env: { ...env, ADMIN_PORT: '0' } });
    const admin = String(logLines(server).find(({ msg }) => msg === 'listening')?.admin);
    const [leaving = 0] = workersOf(server);
    const endCalls = await holdCalls(server.origin);
    process.kill(leaving, 'SIGTERM');
    await until(() => expect(workersOf(server)).toHaveLength(3));
    expect(lives(leaving)).toBe(true);
    endCalls();
    await until(() =>
      expect(logLines(server)).toContainEqual(
        expect.objectContaining({ msg: 'worker exited', worker: leaving, code: 0, level: 30 }),
      ),
    );
    // Responses show that the supervisor has handled the exit: it would have started another worker by now.
    for (let turns = 0; turns < 5; turns += 1) expect((await fetch(`${admin}/healthz`)).status).toBe(200);
    expect(childrenOf(server)).toHaveLength(2);
  });

  test('workers stop gracefully if the supervisor is killed', async () => {
    const { start } = await newFolder();
    const server = start({ env });
    await until(() => expect(workersOf(server)).toHaveLength(2));
    const workers = workersOf(server);
    server.child.kill('SIGKILL');
    // Both workers hold stdout. The last one closes it just before it exits.
    await server.exited;
    await until(() => expect(workers.filter(lives)).toEqual([]));
    expect(logLines(server).filter(({ msg }) => msg === 'stopped')).toHaveLength(2);
  });
});
