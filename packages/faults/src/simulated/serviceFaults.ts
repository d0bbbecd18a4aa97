import { type Fault, isOver } from '../history/fault.ts';
import type { Random } from '@petstore/testing/random';
import { clock } from './install.ts';
import { faultOfLink } from './link.ts';
import type { SimulatedNetwork } from './network.ts';
import type { Processes } from './processes.ts';
import type { RunningProcess } from './runningProcess.ts';

/** Faults of clients, of the network to them and of processes, whatever these share. */
export function serviceFaults(
  processes: Processes,
  network: SimulatedNetwork,
  isShared: boolean,
): readonly Fault[] {
  /** A fault of one process that runs. */
  const ofProcess =
    (begin: (running: RunningProcess, random: Random) => () => void): Fault['begin'] =>
    (random) => {
      const { reachable } = processes;
      return reachable.length === 0 ? isOver : begin(random.pick(reachable), random);
    };
  const chooseLink = (random: Random) => {
    const { reachable } = processes;
    return reachable.length === 0 ? undefined : network.linkOf(random.pick(reachable));
  };
  const faults: Fault[] = [
    {
      name: 'cut clients',
      begin: ofProcess(({ connections }) => {
        for (const connection of connections) connection.cut();
        return isOver;
      }),
    },
    faultOfLink('frozen clients', 'frozen', chooseLink),
    faultOfLink('lost replies', 'lossy', chooseLink),
    faultOfLink('slow clients', 'slow', chooseLink),
    {
      name: 'jumped clock',
      begin(random) {
        // Set back by an hour, keys of interrupted calls would count as running for an hour.
        clock.setSystemTime(Date.now() + (random.chance(0.2) ? 3_600_000 : random.from(-20_000, 20_000)));
        return isOver;
      },
      // Keys expire, and events are no longer kept.
      loses: 'both',
    },
  ];
  if (!isShared) return faults;
  return [
    ...faults,
    {
      name: 'killed process',
      kills: true,
      begin: ofProcess((running) => {
        processes.kill(running);
        return () => void processes.restart();
      }),
    },
    {
      name: 'stopped process',
      kills: true,
      begin: ofProcess((running) => {
        void processes.stop(running);
        return () => void processes.restart();
      }),
    },
  ];
}
