import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '../client/client.ts';
import type { Transport } from '../client/transport.ts';
import { Random } from '@petstore/testing/random';
import type { Effect } from '../service/service.ts';
import type { Fault } from './fault.ts';
import { History } from '../client/history.ts';
import type { Plan, Step } from './plan.ts';
import { hasMarker, lateJourneys, marker, type Published, violationsOf } from './rules.ts';

/** A service, and all that can happen to it: on the virtual clock, or with processes of the system. */
export interface Environment {
  readonly transport: Transport;
  readonly faults: readonly Fault[];
  /** How much longer a call may take than on an idle machine, in milliseconds. Default: 0. */
  readonly marginMs?: number;
  /** Starts the processes of the service. */
  start(count: number): Promise<void>;
  revoke(token: string): void;
  /** Events that faults have published. */
  readonly published: readonly Published[];
  /** Returns all effects outside of the service. */
  effects(): Promise<readonly Effect[]>;
  /** Stops the service. @returns a sentence for each thing that is wrong with its end */
  end(): Promise<readonly string[]>;
}

export interface Report {
  readonly violations: readonly string[];
  readonly calls: number;
  readonly faults: readonly string[];
  /** How clients got over the faults, in words. */
  readonly figures: string;
  /** What has happened; empty unless it is read. */
  readonly lines: readonly string[];
}

/** How long all is open to recover after the last fault and step, in milliseconds, before what is still wrong is a violation. */
const settleMs = 60_000;

/** Runs a planned history in an environment. @param isRead whether a person reads what has happened */
export async function runHistory(plan: Plan, environment: Environment, isRead = false): Promise<Report> {
  return new Run(plan, environment, isRead).toEnd();
}

class Run {
  readonly #plan: Plan;
  readonly #environment: Environment;
  readonly #history: History;
  readonly #leaving = new AbortController();
  readonly #begun: Fault[] = [];
  readonly #failures: string[] = [];
  readonly #faultTimes: { from: number; to: number }[] = [];

  constructor(plan: Plan, environment: Environment, isRead: boolean) {
    this.#plan = plan;
    this.#environment = environment;
    const beganAt = performance.now();
    this.#history = new History(() => Math.round(performance.now() - beganAt), isRead);
  }

  async toEnd(): Promise<Report> {
    const { processes, steps } = this.#plan;
    await this.#environment.start(processes);
    const acting = steps.map(async (step) => {
      await sleep(step.at);
      await this.#noting(this.#act(step));
    });
    await Promise.all(acting.filter((_, at) => steps[at]?.kind === 'fault'));
    const { signal } = this.#leaving;
    const stepsMs = Math.max(0, ...steps.map(({ at }) => at - this.#history.now));
    const settled = sleep(stepsMs + settleMs, undefined, { signal }).catch(() => {});
    await Promise.race([Promise.all(acting).then(() => this.#mark()), settled]);
    this.#leaving.abort();
    const problems = await this.#environment.end();
    return this.#report([...this.#failures, ...problems]);
  }

  /** Notes what is wrong with the laboratory itself, such as a response that is none of its protocol. */
  async #noting(action: Promise<void>): Promise<void> {
    await action.catch((error: unknown) => this.#failures.push(String((error as Error).stack)));
  }

  #client(token: string, seed: number): Client {
    const { signal } = this.#leaving;
    const client = new Client({
      transport: this.#environment.transport,
      history: this.#history,
      random: new Random(seed),
      token,
      signal,
    });
    signal.addEventListener('abort', () => client.close());
    return client;
  }

  async #act(step: Step): Promise<void> {
    const { seed } = step;
    switch (step.kind) {
      case 'order':
        return this.#client(step.token, seed).order(step.text, step.ms);
      case 'note':
        return void (await this.#client(step.token, seed).call('note', { text: step.text, ms: step.ms }));
      case 'publish': {
        const client = this.#client('bob', seed);
        const events = Array.from({ length: step.burst }, (_, at) => `${step.event}.${at}`);
        const sent = events.map((event) => client.call('publish', { key: step.channel, event }));
        return void (await Promise.all(sent));
      }
      case 'subscribe':
        return void this.#noting(this.#client('ada', seed).subscribe(step.channel));
      case 'answer':
        return this.#client(step.token, seed).answer(step.key);
      case 'answers': {
        const keys = Array.from({ length: step.count }, (_, at) => `${step.token}-${at}`);
        return void (await Promise.all(keys.map((key) => this.#client(step.token, seed).answer(key, true))));
      }
      case 'flood': {
        const calls = Array.from({ length: step.calls }, (_, at) =>
          this.#client('flooder', seed + at).call('look', { text: 'nothing' }),
        );
        return void (await Promise.all(calls));
      }
      case 'revoke':
        return this.#environment.revoke(step.token);
      case 'fault':
        return this.#fault(step.fault, step.forMs, new Random(seed));
    }
  }

  async #fault(choice: number, forMs: number, random: Random): Promise<void> {
    const { faults } = this.#environment;
    const fault = faults[Math.floor(choice * faults.length)] as Fault;
    this.#begun.push(fault);
    this.#history.faults.push(fault.name);
    this.#history.note(() => `${fault.name} begins`);
    const time = { from: this.#history.now, to: Infinity };
    this.#faultTimes.push(time);
    const end = await fault.begin(random);
    await sleep(forMs);
    await end();
    time.to = this.#history.now;
    this.#history.note(() => `${fault.name} ends`);
  }

  /**
   * Waits until each subscriber is up to date without another event, and then publishes events until each has one of them: it may
   * be connecting while the first is published.
   */
  async #mark(): Promise<void> {
    const { journeys } = this.#history;
    const wasRewound = this.#begun.some(({ rewinds }) => rewinds);
    const late = () => (wasRewound ? [] : lateJourneys(this.#history, this.#environment.published));
    for (let waits = 0; waits < 100 && late().length > 0; waits += 1) await sleep(100);
    for (const journey of late()) journey.isLate = true;
    const client = this.#client('bob', 1);
    const waiting = () => journeys.filter((journey) => !journey.deadBy && !hasMarker(journey));
    while (!this.#leaving.signal.aborted && waiting().length > 0) {
      const channels = [...new Set(waiting().map(({ channel }) => channel))];
      await Promise.all(channels.map((key) => client.call('publish', { key, event: marker })));
      for (let waits = 0; waits < 10 && waiting().length > 0; waits += 1) await sleep(100);
    }
  }

  async #report(problems: readonly string[]): Promise<Report> {
    const { calls, faults, lines = [] } = this.#history;
    const lost = new Set(this.#begun.map(({ loses }) => loses));
    const splitsCounts = this.#begun.some(({ kills, loses, separates }) => kills || loses || separates);
    const violations = violationsOf(this.#history, {
      effects: await this.#environment.effects(),
      faultTimes: this.#faultTimes,
      machineMs: this.#environment.marginMs ?? 0,
      lost: {
        keys: lost.has('keys') || lost.has('both'),
        events: lost.has('events') || lost.has('both'),
      },
      mayBeCut: this.#begun.some(({ kills }) => kills),
      wasRewound: this.#begun.some(({ rewinds }) => rewinds),
      wasAway: this.#begun.some(({ separates }) => separates),
      published: this.#environment.published,
      counters: 1 + (splitsCounts ? this.#plan.processes + faults.length : 0),
      processes: this.#plan.processes + faults.length,
      revoked: new Set(this.#plan.steps.flatMap((step) => (step.kind === 'revoke' ? [step.token] : []))),
    });
    const figures = this.#figures();
    return { violations: [...problems, ...violations], calls: calls.length, faults, figures, lines };
  }

  #figures(): string {
    const { calls, journeys } = this.#history;
    const longestMs = Math.max(...calls.map(({ endedAt, sentAt }) => endedAt - sentAt));
    const done = calls.filter(({ outcome }) => outcome.kind === 'done').map(({ endedAt }) => endedAt);
    const backMs = this.#faultTimes.map(({ to }) => (done.find((endedAt) => endedAt > to) ?? to) - to);
    const events = journeys.flatMap(({ items }) => items.filter(({ type }) => type === 'event'));
    return `${calls.length} calls, the longest ${longestMs} ms; successes ${backMs.join(' and ')} ms after the faults; ${events.length} events`;
  }
}
