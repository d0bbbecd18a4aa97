/**
 * Attacks a gateway with 1,000 WebSockets of each kind from one address, with and without a key. Measures the memory of
 * the server and the latency that a well-behaved client sees: `npm run test:attack -w trpc-gateway-test`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Measured } from '../load/levels.ts';
import { adapterOfRun } from '../adapters.ts';
import { startPinned } from '../load/pinned.ts';
import { runCommand } from '../trpcClients/commandLine.ts';
import { megabytes } from '../trpcClients/startRpcProcess.ts';
import type { Attack, AttackKind, SocketCounts } from './attacker.ts';
import type { Target } from './attackTarget.ts';
import type { BystanderMessage, BystanderResult } from './bystander.ts';

interface AttackOptions {
  readonly sockets: number;
  /** Duration of each attack. */
  readonly seconds: number;
  /** Whether to check latencies. Only meaningful on an otherwise idle machine. */
  readonly isTimed: boolean;
  /** Maximum growth of the server's resident memory during the attacks, in bytes. */
  readonly maxGrowthBytes: number;
}

const longAttack: AttackOptions = { sockets: 1000, seconds: 30, isTimed: true, maxGrowthBytes: 100_000_000 };
/**
 * A short attack for the test suite. Beside other tests garbage is collected late: the memory grew by 70 to 110 MB, and by
 * 1,392 MB without the limits.
 */
export const briefAttack: AttackOptions = {
  sockets: 250,
  seconds: 2,
  isTimed: false,
  // Node's own buffers and streams are collected late: the memory grew by 110 to 260 MB.
  maxGrowthBytes: adapterOfRun() === 'node' ? 400_000_000 : 150_000_000,
};

const kinds: readonly AttackKind[] = [
  'no credential',
  'unfinished frame',
  'unfinished frame of 64 KiB',
  'unread pongs',
  'unread responses',
];

/** Maximum latency for the bystander, in milliseconds. */
const maxLatencyMs = 100;

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** The measurements of one attack; memory in MB. */
interface AttackResult extends SocketCounts {
  readonly kind: AttackKind;
  readonly hasKey: boolean;
  /** Processor time of the server, in milliseconds. */
  readonly cpuMs: number;
  readonly rss: { readonly before: number; readonly peak: number; readonly after: number };
  readonly bystander: BystanderResult;
}

/** Runs each attack with and without a key. Resolves with the measurements and a message for each exceeded limit. */
export async function attackSockets(options: AttackOptions): Promise<Measured> {
  const { sockets, seconds } = options;
  const server = startPinned(0, pathOf('attackTarget.ts'), { ADAPTER: adapterOfRun() });
  const attacker = startPinned(1, pathOf('attacker.ts'));
  const bystander = startPinned(1, pathOf('bystander.ts'));
  const callBystander = <ReceivedResponse>(message: BystanderMessage) =>
    bystander.call<ReceivedResponse>(message);

  async function run(attack: Omit<Attack, 'port'>, port: number): Promise<AttackResult> {
    const cpuBefore = await server.cpuMs();
    const before = await server.rss();
    let peak = before;
    const samplePeak = async () => {
      peak = Math.max(peak, await server.rss());
    };
    const timer = setInterval(() => void samplePeak(), 20);
    await callBystander<object>({ begin: { port } });
    const counts = await attacker.call<SocketCounts>({ ...attack, port });
    const bystanderResult = await callBystander<BystanderResult>({ end: true });
    clearInterval(timer);
    const cpuMs = (await server.cpuMs()) - cpuBefore;
    await sleep(1000);
    const rss = { before: megabytes(before), peak: megabytes(peak), after: megabytes(await server.rss()) };
    return { kind: attack.kind, hasKey: attack.hasKey, ...counts, cpuMs, rss, bystander: bystanderResult };
  }

  try {
    const { port } = await server.call<Target>({});
    // The first run is slow, and its compiled code and garbage take memory, whatever the clients do.
    const warmUp = await run({ kind: 'none', hasKey: true, sockets, seconds }, port);
    const start = await server.rss();
    const results: AttackResult[] = [];
    for (const hasKey of [false, true]) {
      for (const kind of kinds) {
        // To produce 5 GB of responses takes a core 12 s: in less time it would be an attack on the processor.
        const attackSeconds = kind === 'unread responses' ? seconds * 2 : seconds;
        results.push(await run({ kind, hasKey, sockets, seconds: attackSeconds }, port));
      }
    }
    const problems = results.flatMap((result) => problemsOf(result, megabytes(start), options));
    return { measured: { sockets, seconds, rssAtStart: megabytes(start), warmUp, results }, problems };
  } finally {
    await Promise.all([bystander.stop(), attacker.stop(), server.stop()]);
  }
}

function problemsOf(
  { kind, hasKey, rss, bystander }: AttackResult,
  startMegabytes: number,
  { isTimed, maxGrowthBytes }: AttackOptions,
): string[] {
  const attackName = `${kind}, ${hasKey ? 'with a key' : 'without a key'}`;
  const problems = bystander.errors.map(
    (error) => `${attackName}: a well-behaved client was not served: ${error}`,
  );
  const growth = rss.peak - startMegabytes;
  const maxGrowth = megabytes(maxGrowthBytes);
  if (growth * 1_048_576 > maxGrowthBytes) {
    problems.push(
      `${attackName}: the memory of the server grew by ${growth.toFixed(1)} MB; the limit is ${maxGrowth.toFixed(1)} MB`,
    );
  }
  const worstMs = Math.max(bystander.worstRequestMs, bystander.worstSocketMs);
  if (isTimed && worstMs > maxLatencyMs) {
    problems.push(
      `${attackName}: a well-behaved client waited ${worstMs} ms; the limit is ${maxLatencyMs} ms`,
    );
  }
  return problems;
}

await runCommand(import.meta, ({ isBrief }) => attackSockets(isBrief ? briefAttack : longAttack));
