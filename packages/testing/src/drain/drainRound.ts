import { setTimeout as sleep } from 'node:timers/promises';
import {
  busyClient,
  eventClient,
  newcomer,
  quietClient,
  type Round,
  socketClient,
  type Tally,
} from './clients.ts';

/** A service that is stopped under load. */
interface DrainTarget {
  readonly origin: string;
  /** Sends SIGTERM, and resolves when the process has ended. */
  readonly stop: () => Promise<{ readonly code: number | null }>;
  /** A bearer token that is accepted. */
  readonly apiKey: string;
  /** The path of what is created (POST) and listed (GET), such as `/v1/pets`. */
  readonly path: string;
  /** The mutation that creates one: its input is `{ name, categoryId }`. */
  readonly procedure: string;
}

interface DrainRound {
  readonly tally: Tally;
  readonly code: number | null;
  /** From the signal to the end of the process, in milliseconds. */
  readonly exitMs: number;
}

/** The counts of a round that should be 0 and are not, by name. */
export function problemsOf(
  { code, exitMs, tally }: DrainRound,
  stopDeadlineMs = 10_000,
): Record<string, number> {
  const counts = { ...tally, code: code ?? NaN, afterDeadline: Math.max(0, exitMs - stopDeadlineMs) };
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0));
}

type Client = (round: Round) => Promise<void>;
const several = (count: number, client: (round: Round, index: number) => Promise<void>): Client[] =>
  Array.from({ length: count }, (_, index) => (round) => client(round, index));

const newcomers = 2;

async function stopUnderLoad(
  { origin, stop, apiKey, path }: Pick<DrainTarget, 'origin' | 'stop' | 'apiKey' | 'path'>,
  clients: readonly Client[],
): Promise<DrainRound & Pick<Round, 'created' | 'open'>> {
  let openCount = 0;
  let allOpen = () => {};
  const opened = new Promise<void>((resolve) => (allOpen = resolve));
  const round: Round = {
    origin,
    apiKey,
    path,
    tally: { lost: 0, brokenStreams: 0, abruptSockets: 0, missing: 0, unanswered: 0 },
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
  const { code } = await stop();
  const exitMs = performance.now() - since;
  await Promise.all(running);
  return { ...round, code, exitMs };
}

/**
 * Stops a service under load over REST and WebSocket, and looks at what it has kept.
 * @param namesKept the names of all records that are stored after the stop, and how often each is there
 */
export async function drainCalls(
  target: DrainTarget,
  namesKept: () => Promise<ReadonlyMap<string, number>>,
): Promise<DrainRound> {
  const { created, open, ...round } = await stopUnderLoad(target, [
    ...several(16, (clients, index) => busyClient(clients, `rest ${index}`)),
    ...several(8, (clients) => quietClient(clients)),
    ...several(8, (clients, index) => socketClient(clients, `socket ${index}`, target.procedure)),
  ]);
  const kept = await namesKept();
  round.tally.missing = [...created].filter((name) => kept.get(name) !== 1).length;
  round.tally.unanswered = [...open].filter((name) => kept.has(name)).length;
  return round;
}

/**
 * Stops a service that has streams under load.
 * @param target `procedure` takes a while
 * @param streams paths of server-sent events that never end
 */
export const drainStreams = (
  target: Omit<DrainTarget, 'path'>,
  streams: readonly string[],
): Promise<DrainRound> =>
  stopUnderLoad({ ...target, path: '' }, [
    ...streams.flatMap((path) => several(8, (clients) => eventClient(clients, path))),
    ...several(8, (clients, index) => socketClient(clients, `wait ${index}`, target.procedure)),
  ]);
