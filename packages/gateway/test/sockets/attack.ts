/**
 * Attacks a gateway with 1,000 WebSockets of each kind from one address, with and without a key, and measures its memory
 * and what an ordinary client notices: `npm run test:attack`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Measured } from '../load/levels.ts';
import { adapterOfRun } from '../adapters.ts';
import { startPinned } from '../load/pinned.ts';
import { finish, isCommand } from '../rpcClients/commandLine.ts';
import { megabytes } from '../rpcClients/startRpcProcess.ts';
import type { Attack, Attacked, AttackKind } from './attacker.ts';
import type { Target } from './attackTarget.ts';
import type { BystanderMessage, Served } from './bystander.ts';

interface AttackOptions {
  readonly sockets: number;
  /** How long each attack lasts. */
  readonly seconds: number;
  /** Whether times count: they do where the machine has nothing else to do. */
  readonly isTimed: boolean;
  /** By how much the server may grow, over all attacks, in bytes. */
  readonly mostGrowth: number;
}

const longAttack: AttackOptions = { sockets: 1000, seconds: 30, isTimed: true, mostGrowth: 100_000_000 };
/**
 * In the midst of other tests, where garbage is collected late: 70 to 110 MB were seen, and 1,392 MB without the bounds.
 */
export const briefAttack: AttackOptions = {
  sockets: 250,
  seconds: 2,
  isTimed: false,
  // Node's own buffers and streams are garbage for a while: 110 to 260 MB were seen.
  mostGrowth: adapterOfRun() === 'node' ? 400_000_000 : 150_000_000,
};

const kinds: readonly AttackKind[] = [
  'no credential',
  'unfinished frame',
  'unfinished frame of 64 KiB',
  'unread pongs',
  'unread answers',
];

/** How long an ordinary request may take, in milliseconds. */
const mostMs = 100;

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** How one attack went; memory in MB. */
interface AttackResult extends Attacked {
  readonly kind: AttackKind;
  readonly hasKey: boolean;
  /** Processor time of the server, in milliseconds. */
  readonly cpuMs: number;
  readonly rss: { readonly before: number; readonly peak: number; readonly after: number };
  readonly served: Served;
}

export async function attackSockets(options: AttackOptions): Promise<Measured> {
  const { sockets, seconds } = options;
  const server = startPinned(0, fileOf('attackTarget.ts'), { ADAPTER: adapterOfRun() });
  const attacker = startPinned(1, fileOf('attacker.ts'));
  const bystander = startPinned(1, fileOf('bystander.ts'));
  const callBystander = <ReceivedResponse>(message: BystanderMessage) =>
    bystander.call<ReceivedResponse>(message);

  async function run(attack: Omit<Attack, 'port'>, port: number): Promise<AttackResult> {
    const cpuBefore = await server.cpuMs();
    const before = await server.rss();
    let peak = before;
    const watch = async () => {
      peak = Math.max(peak, await server.rss());
    };
    const timer = setInterval(() => void watch(), 20);
    await callBystander<object>({ begin: { port } });
    const attacked = await attacker.call<Attacked>({ ...attack, port });
    const served = await callBystander<Served>({ end: true });
    clearInterval(timer);
    const cpuMs = (await server.cpuMs()) - cpuBefore;
    await sleep(1000);
    const rss = { before: megabytes(before), peak: megabytes(peak), after: megabytes(await server.rss()) };
    return { kind: attack.kind, hasKey: attack.hasKey, ...attacked, cpuMs, rss, served };
  }

  try {
    const { port } = await server.call<Target>({});
    // What runs for the first time is slow, and its code and its garbage take memory, whoever the clients are.
    const ordinary = await run({ kind: 'none', hasKey: true, sockets, seconds }, port);
    const start = await server.rss();
    const results: AttackResult[] = [];
    for (const hasKey of [false, true]) {
      for (const kind of kinds) {
        // To make 5 GB of answers takes a core 12 s: in less time it would be an attack on the processor.
        const lasts = kind === 'unread answers' ? seconds * 2 : seconds;
        results.push(await run({ kind, hasKey, sockets, seconds: lasts }, port));
      }
    }
    const problems = results.flatMap((result) => problemsOf(result, megabytes(start), options));
    return { measured: { sockets, seconds, rssAtStart: megabytes(start), ordinary, results }, problems };
  } finally {
    await Promise.all([bystander.stop(), attacker.stop(), server.stop()]);
  }
}

function problemsOf(
  { kind, hasKey, rss, served }: AttackResult,
  start: number,
  { isTimed, mostGrowth }: AttackOptions,
): string[] {
  const name = `${kind}, ${hasKey ? 'with a key' : 'without a key'}`;
  const problems = served.failures.map((failure) => `${name}: an ordinary client was not served: ${failure}`);
  const growth = rss.peak - start;
  if (growth * 1_048_576 > mostGrowth) problems.push(`${name}: the server grew by ${growth.toFixed(1)} MB`);
  const worst = Math.max(served.worstRequestMs, served.worstSocketMs);
  if (isTimed && worst > mostMs) problems.push(`${name}: an ordinary client waited for ${worst} ms`);
  return problems;
}

if (isCommand(import.meta)) {
  const { measured, problems } = await attackSockets(
    process.argv.includes('--brief') ? briefAttack : longAttack,
  );
  finish(measured, problems);
}
