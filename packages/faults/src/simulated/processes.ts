import { setTimeout as sleep } from 'node:timers/promises';
import type { Gateway } from 'trpc-gateway';
import { createProcessGateway, openProcess, type Outside, type ServiceProcess } from '../service/service.ts';
import { processesWithTimers } from './install.ts';
import type { FaultyProcesses, RunningProcess } from './runningProcess.ts';
import { runIn, SimulatedProcess } from './simulatedProcess.ts';
import type { OpenedStorage, Storage } from './storages.ts';

/** A gateway, which takes longer to create than a history to run. An idle one remembers nothing of a process, and serves another. */
interface Slot {
  readonly gateway: Gateway;
  current: ServiceProcess | undefined;
  logged: number;
}

const idleSlots: Slot[] = [];

async function takeSlot(): Promise<Slot> {
  const idle = idleSlots.pop();
  if (idle) return Object.assign(idle, { logged: 0 });
  const slot: Slot = {
    logged: 0,
    current: undefined,
    gateway: await createProcessGateway(
      () => slot.current as ServiceProcess,
      () => (slot.logged += 1),
    ),
  };
  return slot;
}

interface Started extends RunningProcess {
  readonly slot: Slot;
  readonly opened: OpenedStorage;
  /** Calls of what it shares that have not settled, with their names; empty once its close has failed, after which calls go on. */
  pending: ReadonlyMap<Promise<unknown>, string>;
  /** Whether it has ended in order. */
  hasStopped: boolean;
}

/** Records the pending calls of an object. Clients cannot observe one that never settles: their own deadline ends first. */
const recording = <T extends object>(target: T, pending: Map<Promise<unknown>, string>): T =>
  new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: readonly unknown[]): unknown => {
        const result: unknown = Reflect.apply(value, target, args);
        if (!(result instanceof Promise)) return result;
        pending.set(result, String(name));
        void Promise.allSettled([result]).then(() => pending.delete(result));
        return result;
      };
    },
  });

/** How long to wait before a process is started again, in milliseconds. */
const restartMs = 200;

/** How long a process takes to complete its calls when it stops, in milliseconds. */
const graceMs = 500;

/** The processes of a service in one history. */
export class Processes implements FaultyProcesses {
  readonly #storage: Storage;
  readonly #outside: Outside;
  readonly #started: Started[] = [];
  readonly #opening = new Set<SimulatedProcess>();
  #count = 0;
  #isEnding = false;

  constructor(storage: Storage, outside: Outside) {
    this.#storage = storage;
    this.#outside = outside;
  }

  get reachable(): readonly RunningProcess[] {
    return this.#started.filter(({ isStopping, process }) => process.isAlive && !isStopping);
  }

  /** @throws if what it shares cannot be opened */
  async start(): Promise<void> {
    this.#count += 1;
    const process = new SimulatedProcess(`p${this.#count}`);
    const killed = Promise.withResolvers<never>();
    process.whenKilled(() => killed.reject(new Error(`${process.name} was killed.`)));
    this.#opening.add(process);
    const opening = runIn(process, () => this.#storage.open(process));
    killed.promise.catch(() => {});
    let opened: OpenedStorage;
    try {
      opened = await Promise.race([opening, killed.promise]);
    } catch (error) {
      process.kill();
      throw error;
    } finally {
      this.#opening.delete(process);
    }
    const slot = await takeSlot();
    const pending = new Map<Promise<unknown>, string>();
    const [state, log] = [recording(opened.state, pending), recording(opened.log, pending)];
    const service = runIn(process, () => openProcess({ state, log, outside: this.#outside }));
    slot.current = service;
    this.#started.push({
      process,
      slot,
      opened,
      pending,
      service,
      gateway: slot.gateway,
      connections: new Set(),
      sockets: new Set(),
      bodies: new Set(),
      received: 0,
      isStopping: false,
      hasStopped: false,
    });
  }

  /** Starts a process in place of one that has ended, when what it shares can be opened. */
  async restart(): Promise<void> {
    while (!this.#isEnding) {
      try {
        return await this.start();
      } catch {
        await sleep(restartMs);
      }
    }
  }

  killAll(): () => void {
    const killed = this.#started.filter(({ hasStopped, process }) => process.isAlive && !hasStopped);
    for (const running of killed) this.kill(running);
    // Those that are starting are started again by themselves.
    for (const process of this.#opening) process.kill();
    return () => {
      for (let count = killed.length; count > 0; count -= 1) void this.restart();
    };
  }

  kill(running: RunningProcess): void {
    running.process.kill();
    for (const connection of running.connections) connection.cut();
  }

  /** Stops a process in order, as an adapter does. */
  stop(running: RunningProcess): Promise<void> {
    return runIn(running.process, () => this.#stop(running));
  }

  async #stop(running: RunningProcess): Promise<void> {
    running.isStopping = true;
    const { bodies, gateway, service, sockets } = running;
    for (const socket of sockets) socket.drain(graceMs);
    for (const body of bodies) body.end?.();
    await service.runs.close();
    while (gateway.callsInFlight() > 0 || bodies.size > 0) await sleep(20);
    for (const connection of running.connections) connection.cut();
    // It fails while what it shares is away.
    await (running as Started).opened.close().catch(() => ((running as Started).pending = new Map()));
    (running as Started).hasStopped = true;
  }

  /** Stops all. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await Promise.all(this.reachable.map((running) => this.stop(running)));
  }

  /**
   * Lets further histories use the gateways of processes that have stopped, and have nothing left to do.
   * @returns what is wrong with the others of these, and with their records
   */
  free(): readonly string[] {
    const problems: string[] = [];
    const busy = processesWithTimers();
    for (const { gateway, hasStopped, pending, process, received, slot } of this.#started) {
      if (!hasStopped || !process.isAlive) continue;
      for (const name of pending.values())
        problems.push(`${process.name} has called ${name}, which does not settle.`);
      const calls = gateway.callsInFlight();
      if (calls > 0) problems.push(`${process.name} has ${calls} calls that do not end.`);
      if (slot.logged < received)
        problems.push(`${process.name} has logged ${slot.logged} of ${received} requests.`);
      if (calls === 0 && !busy.has(process)) idleSlots.push(slot);
    }
    return problems;
  }
}
