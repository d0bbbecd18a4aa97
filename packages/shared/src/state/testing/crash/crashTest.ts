/*
 * Repeatedly kills a service with SIGKILL under load. Checks that no order with an idempotency key runs twice and that no
 * acknowledged order is lost. As a command, `npm run crash:idempotency -w trpc-gateway-shared`, it runs 1,000 rounds, or
 * `ROUNDS`. One of these must hold for each order:
 *
 * - transactional form: the order was eventually acknowledged, and is stored once, as acknowledged
 * - policy form, acknowledged: the order ran once, and each repeat gets the same response
 * - policy form, interrupted: the order ran at most once, and each repeat gets 409, without `Retry-After` after the lease
 */
import { countArgument } from '@petstore/testing/countArgument';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Order } from './keyedService.ts';

type Form = 'policy' | 'transactional';

/** An order that a client sent until it knew the outcome. */
interface SentOrder {
  readonly form: Form;
  readonly text: string;
  /** The acknowledged run; `undefined` if the first request was interrupted. */
  readonly run: string | undefined;
}

export interface CrashReport {
  readonly rounds: number;
  readonly acknowledged: Readonly<Record<Form, number>>;
  /** Number of replayed responses. */
  readonly replayed: number;
  /** Number of interrupted orders of the policy form. */
  readonly interrupted: number;
  /** Number of interrupted orders that had run. */
  readonly interruptedThatRan: number;
  /** Violations of the rules, one sentence each. */
  readonly violations: readonly string[];
}

export interface CrashOptions {
  readonly rounds: number;
  /** Whether to wait 15 s for the leases of interrupted orders to end. */
  readonly awaitsLeases: boolean;
  /** Called after each round. */
  readonly onRound?: (round: number) => void;
}

const service = fileURLToPath(new URL('keyedService.ts', import.meta.url));
const clientCount = 16;
/** `callTimeoutMs` of the service, plus the margin of a lease. */
const leaseMs = 5000 + 10_000;

export async function crashTest({ rounds, awaitsLeases, onRound }: CrashOptions): Promise<CrashReport> {
  const folder = await mkdtemp(join(tmpdir(), 'keyed-crash-'));
  const started = new Set<ChildProcess>();
  /** Starts a process that loads its code and waits. */
  const prepare = async () => {
    const child = fork(service, [folder], { execArgv: ['--conditions=trpc-gateway-source'] });
    started.add(child);
    child.once('exit', () => started.delete(child));
    await once(child, 'message');
    return child;
  };
  const violations: string[] = [];
  const sent: SentOrder[] = [];
  let replayed = 0;
  let spare = prepare();
  let origin = Promise.withResolvers<string>();
  const ending = new AbortController();
  let onResponse = () => {};

  async function serveNext(): Promise<ChildProcess> {
    const child = await spare;
    spare = prepare();
    child.send('listen');
    const [{ port }] = (await once(child, 'message')) as [{ readonly port: number }];
    origin.resolve(`http://127.0.0.1:${port}`);
    return child;
  }

  /** Sends an order until a response arrives. */
  async function send(form: Form, text: string) {
    for (;;) {
      const at = await origin.promise;
      try {
        const response = await fetch(`${at}/v1/${form}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'idempotency-key': text },
          body: JSON.stringify({ text }),
        });
        const body = (await response.json()) as Partial<Order>;
        onResponse();
        return { status: response.status, headers: response.headers, body };
      } catch {
        // The service was killed. `origin` resolves when the next process serves.
        await sleep(1);
      }
    }
  }

  async function order(form: Form, text: string): Promise<void> {
    for (;;) {
      const { status, headers, body } = await send(form, text);
      if (headers.has('idempotent-replayed')) replayed += 1;
      if (status === 201 && body.text === text) {
        sent.push({ form, text, run: body.run });
        return;
      }
      // The call timed out and may still run.
      if (status === 504) continue;
      if (form === 'policy' && status === 409) sent.push({ form, text, run: undefined });
      else violations.push(`${text} was answered with ${status}: ${JSON.stringify(body)}`);
      return;
    }
  }

  /** Repeats an order with a known outcome. */
  async function repeat({ form, text, run }: SentOrder, hasRetryAfter?: boolean): Promise<void> {
    const { status, headers, body } = await send(form, text);
    if (run === undefined) {
      if (status !== 409) violations.push(`${text} was interrupted, and its repeat was ${status}`);
      else if (hasRetryAfter !== undefined && headers.has('retry-after') !== hasRetryAfter) {
        violations.push(
          `${text} was interrupted, and its repeat had Retry-After: ${headers.get('retry-after')}`,
        );
      }
      return;
    }
    const isReplayed = headers.get('idempotent-replayed') === 'true';
    if (status !== 201 || body.run !== run || !isReplayed) {
      violations.push(`${text} was run ${run}, and its repeat was ${status}: ${JSON.stringify(body)}`);
    }
  }

  async function runClient(index: number): Promise<void> {
    const form: Form = index % 2 === 0 ? 'policy' : 'transactional';
    for (let count = 0; !ending.signal.aborted; count += 1) {
      await order(form, `${form}-${index}-${count}`);
      const last = sent.at(-1);
      if (count % 8 === 7 && last) await repeat(last);
    }
  }

  async function killInTheMiddle(): Promise<void> {
    const child = await serveNext();
    let left = 10 + Math.floor(Math.random() * 60);
    await new Promise<void>((resolve) => {
      onResponse = () => {
        left -= 1;
        if (left === 0) resolve();
      };
    });
    await sleep(Math.random() * 4);
    origin = Promise.withResolvers();
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  try {
    const load = Promise.all(Array.from({ length: clientCount }, (_, index) => runClient(index)));
    for (let round = 1; round <= rounds; round += 1) {
      await killInTheMiddle();
      onRound?.(round);
    }
    await serveNext();
    ending.abort();
    await load;
    const interrupted = sent.filter(({ run }) => run === undefined);
    if (awaitsLeases) {
      await sleep(leaseMs + 1000);
      for (const each of interrupted) await repeat(each, false);
    }
    const effects = await readFile(join(folder, 'effects'), 'utf8');
    const response = await fetch(`${await origin.promise}/trpc/orders`);
    const { result } = (await response.json()) as { readonly result: { readonly data: readonly Order[] } };
    const runs = Map.groupBy(
      [
        ...result.data,
        ...effects
          .trimEnd()
          .split('\n')
          .map((line): Order => {
            const [text = '', run = ''] = line.split(' ');
            return { text, run };
          }),
      ],
      ({ text }) => text,
    );
    for (const [text, { length }] of runs) if (length > 1) violations.push(`${text} ran ${length} times`);
    for (const { text, run } of sent) {
      const ran = runs.get(text)?.[0]?.run;
      if (run !== undefined && ran !== run)
        violations.push(`${text} was acknowledged as ${run}, and ran as ${ran}`);
    }
    const acknowledged = sent.filter(({ run }) => run !== undefined);
    return {
      rounds,
      acknowledged: {
        policy: acknowledged.filter(({ form }) => form === 'policy').length,
        transactional: acknowledged.filter(({ form }) => form === 'transactional').length,
      },
      replayed,
      interrupted: interrupted.length,
      interruptedThatRan: interrupted.filter(({ text }) => runs.has(text)).length,
      violations,
    };
  } finally {
    ending.abort();
    await spare.catch(() => {});
    for (const child of started) child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const rounds = countArgument('ROUNDS', process.env['ROUNDS'], 1000);
  const report = await crashTest({
    rounds,
    awaitsLeases: true,
    onRound: (round) => round % 50 === 0 && process.stderr.write(`${round} of ${rounds} rounds\n`),
  });
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  process.exitCode = report.violations.length === 0 ? 0 : 1;
}
