import { setTimeout as sleep } from 'node:timers/promises';
import { stopDeadlineMs } from '../../stopOnSignals.ts';
import { namesIn } from '../namesIn.ts';
import type { RunningServer } from '../petStoreProcess.ts';
import { busyClient, eventClient, newcomer, quietClient, type Round, socketClient } from './clients.ts';
import { emptyTally, type Tally } from './tally.ts';

export interface DrainRound {
  readonly tally: Tally;
  readonly code: number | null;
  /** From the signal to the end of the process, in milliseconds. */
  readonly exitMs: number;
}

/** What must be 0 of each round. */
const mustBeZero = ['lost', 'resets', 'brokenStreams', 'untoldSockets', 'missing', 'unanswered'] as const;

/** What of a round should not have been, by name; nothing where all went well. */
export function faultsOf({ code, exitMs, tally }: DrainRound): Record<string, number> {
  const faults: (readonly [name: string, count: number])[] = mustBeZero.map((name) => [name, tally[name]]);
  faults.push(['code', code ?? NaN], ['afterDeadline', Math.max(0, exitMs - stopDeadlineMs)]);
  return Object.fromEntries(faults.filter(([, count]) => count !== 0));
}

type Client = (round: Round) => Promise<void>;
const several = (count: number, client: (round: Round, index: number) => Promise<void>): Client[] =>
  Array.from({ length: count }, (_, index) => (round) => client(round, index));

/** Who calls the pet store, besides those who come anew. */
const petStoreClients: readonly Client[] = [
  ...several(16, (round, index) => busyClient(round, `rest ${index}`)),
  ...several(8, (round) => quietClient(round)),
  ...several(8, (round, index) => socketClient(round, `socket ${index}`, 'createPet')),
];
const newcomers = 2;

/** Who calls the process that has streams. */
const tickingClients: readonly Client[] = [
  ...several(8, (round) => eventClient(round, '/v1/ticks')),
  ...several(8, (round) => eventClient(round, '/trpc/ticks')),
  ...several(8, (round, index) => socketClient(round, `wait ${index}`, 'wait')),
];

async function stopUnderLoad(
  server: RunningServer,
  apiKey: string,
  clients: readonly Client[],
): Promise<DrainRound & Pick<Round, 'created' | 'open'>> {
  let openCount = 0;
  let allOpen = () => {};
  const opened = new Promise<void>((resolve) => (allOpen = resolve));
  const round: Round = {
    origin: server.origin,
    apiKey,
    tally: emptyTally(),
    onOpen() {
      openCount += 1;
      if (openCount === clients.length) allOpen();
    },
    created: new Set<string>(),
    open: new Set<string>(),
  };
  const running = clients.map((client) => client(round));
  for (let count = 0; count < newcomers; count += 1) running.push(newcomer(round));
  await opened;
  await sleep(Math.random() * 400);
  const since = performance.now();
  const { code } = await server.stop();
  const exitMs = performance.now() - since;
  await Promise.all(running);
  return { ...round, code, exitMs };
}

/** Stops the pet store under load, and looks at what it has kept. */
export async function drainPetStore(
  server: RunningServer,
  apiKey: string,
  dataDir: string,
): Promise<DrainRound> {
  const { created, open, ...round } = await stopUnderLoad(server, apiKey, petStoreClients);
  const kept = await namesIn(dataDir);
  round.tally.missing = [...created].filter((name) => kept.get(name) !== 1).length;
  round.tally.unanswered = [...open].filter((name) => kept.has(name)).length;
  return round;
}

/** Stops the process that has streams under load. */
export const drainTicking = (server: RunningServer): Promise<DrainRound> =>
  stopUnderLoad(server, 'none', tickingClients);
