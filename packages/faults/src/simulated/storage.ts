import type { State } from 'trpc-gateway';
import type { EventLog } from 'trpc-gateway-shared';
import type { Fault } from '../history/fault.ts';
import type { Published } from '../history/rules.ts';
import type { RunningProcess } from './runningProcess.ts';
import type { SimulatedProcess } from './simulatedProcess.ts';

export interface OpenedStorage {
  readonly state: State;
  readonly log: EventLog;
  close(): Promise<void>;
}

/** The processes of a service, as faults see them. */
export interface FaultyProcesses {
  /** Those that clients can reach. */
  readonly reachable: readonly RunningProcess[];
  /** @returns those that it has killed */
  killAll(): readonly RunningProcess[];
  /** Starts processes, each when what they share can be opened. */
  restartAll(count: number): void;
}

/** What the processes of a service share. */
export interface Storage {
  /** Whether several processes can share it, and what they share survives them. */
  readonly isShared: boolean;
  /** @throws while it is away */
  open(process: SimulatedProcess): Promise<OpenedStorage>;
  /** Faults of what they share. */
  faults(processes: FaultyProcesses, published: Published[]): readonly Fault[];
}
