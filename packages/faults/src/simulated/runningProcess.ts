import type { Gateway, HttpResponse } from 'trpc-gateway';
import type { ServiceProcess } from '../service/service.ts';
import type { SimulatedProcess } from './simulatedProcess.ts';

/** The callbacks of an open WebSocket, which the gateway has returned. */
export type Accept = Exclude<Awaited<ReturnType<Gateway['upgrade']>>, HttpResponse | undefined>;
type SocketHandler = ReturnType<Accept>;

export interface SentBody {
  end?(): void;
}

/** A process of the service from its start to its end, and the connections to it. */
export interface RunningProcess {
  readonly process: SimulatedProcess;
  readonly gateway: Gateway;
  readonly service: ServiceProcess;
  readonly connections: Set<{ cut(): void }>;
  readonly sockets: Set<SocketHandler>;
  readonly bodies: Set<SentBody>;
  /** How many requests it has received, each of which it logs. */
  received: number;
  /** Whether it accepts no more connections. */
  isStopping: boolean;
}

/** The processes of a service, as faults see them. */
export interface FaultyProcesses {
  /** Those that clients can reach. */
  readonly reachable: readonly RunningProcess[];
  /** Kills all. @returns a function that starts as many, each when what they share can be opened */
  killAll(): () => void;
}
