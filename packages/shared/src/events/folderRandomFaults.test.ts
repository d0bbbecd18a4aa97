import { type ChildProcess, fork } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@petstore/testing/temporaryFolder';
import { expect, it, onTestFinished } from 'vitest';
import type { LogItem } from './eventLog.ts';
import { folderEventLog } from './folder.ts';
import type { EventProcessOptions, Written } from './testing/eventProcess.ts';
import { Journey } from './testing/journey.ts';

const program = fileURLToPath(new URL('testing/eventProcess.ts', import.meta.url));
const channels = ['a', 'b'] as const;
const keep = { events: 5000, ms: 3_600_000 };

/** How long faults are injected, in milliseconds. */
const faultsMs = process.env['PETSTORE_TESTS'] === 'long' ? 120_000 : 4000;

/** The processes of a test. */
class Processes {
  readonly #started = new Set<ChildProcess>();
  /** Those that have sent a message: one that is killed before has done nothing. */
  readonly #active = new Set<ChildProcess>();
  isEnding = false;

  /**
   * Runs a process until it is killed.
   * @param onMessage called with each message that it sends before; it may kill the process
   */
  async run(
    options: EventProcessOptions,
    onMessage: (message: unknown, kill: () => void) => void,
  ): Promise<void> {
    const child = fork(program, [JSON.stringify(options)], {
      execArgv: ['--conditions=trpc-gateway-source'],
    });
    this.#started.add(child);
    child.on('message', (message) => {
      this.#active.add(child);
      onMessage(message, () => child.kill('SIGKILL'));
    });
    const [[code]] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')]);
    this.#started.delete(child);
    this.#active.delete(child);
    if (code !== null) throw new Error(`A ${options.role} has ended with code ${code}.`);
  }

  /** Kills a process, or suspends it for some time. */
  async injectFault(): Promise<void> {
    const child = Array.from(this.#active)[randomInt(Math.max(this.#active.size, 1))];
    if (randomInt(2) === 0) child?.kill('SIGKILL');
    else {
      child?.kill('SIGSTOP');
      await sleep(randomInt(500));
      child?.kill('SIGCONT');
    }
    await sleep(randomInt(300));
  }

  endAll(): void {
    this.isEnding = true;
    for (const each of this.#started) each.kill('SIGKILL');
  }
}

it(
  'readers in several processes get each event once and in order, or one resync, while writers and readers are killed and suspended at random',
  async () => {
    const path = await temporaryFolder();
    const log = folderEventLog({ path });
    onTestFinished(() => log.close());
    const writers = new Processes();
    const readers = new Processes();
    onTestFinished(() => {
      writers.endAll();
      readers.endAll();
    });
    const events = channels.map(() => new Map<string, string>());
    const ended: Promise<Journey>[] = [];
    const addEvent = (channel: string, id: string, event: string) => {
      const known = events[channel === 'a' ? 0 : 1];
      expect(known?.get(id) ?? event).toBe(event);
      known?.set(id, event);
    };

    /** A reader, which is started again where it was when it is killed. */
    const travel = async (channel: string, onJoined: () => void): Promise<Journey> => {
      const journey = new Journey();
      const read: { hasEnded: boolean; violation?: unknown } = { hasEnded: false };
      const receive = (item: LogItem, kill: () => void) => {
        onJoined();
        if (read.hasEnded) return;
        try {
          journey.add(item);
          if (item.type === 'event') addEvent(channel, item.id, item.event);
          read.hasEnded = item.type === 'event' && item.event === 'end';
        } catch (error) {
          read.violation = error;
          read.hasEnded = true;
        }
        if (read.hasEnded) kill();
      };
      while (!read.hasEnded) {
        const options = { path, keep, role: 'reader', channel, after: journey.id } as const;
        // oxlint-disable-next-line no-await-in-loop -- one process after the other
        await readers.run(options, (message, kill) => receive(message as LogItem, kill));
      }
      expect(read.violation).toBeUndefined();
      return journey;
    };

    const write = async () => {
      while (!writers.isEnding) {
        // oxlint-disable-next-line no-await-in-loop -- one process after the other
        await writers.run({ path, keep, role: 'writer', channels }, (message) => {
          const { channel, event, id } = message as Written;
          addEvent(channel, id, event);
        });
      }
    };

    await Promise.all(
      [0, 1, 2, 3].map(
        (at) =>
          new Promise<void>((resolve) => {
            ended.push(travel(channels[at % 2] ?? '', resolve));
          }),
      ),
    );
    const written = [write(), write(), write()];
    const until = Date.now() + faultsMs;
    while (Date.now() < until || events.some(({ size }) => size < 1000)) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await (randomInt(3) === 0 ? readers : writers).injectFault();
    }
    writers.endAll();
    await Promise.all(written);
    for (const channel of channels) addEvent(channel, await log.append(channel, 'end', keep), 'end');
    for (const [at, journey] of (await Promise.all(ended)).entries()) {
      journey.verify(events[at % 2]?.keys() ?? []);
      expect(journey.eventCount).toBeGreaterThan(100);
    }
    const name = (await readdir(path)).find((each) => each.endsWith('.mdb')) ?? '';
    // 10,000 events of 1 kB are kept. The pages that killed processes were reading are used again.
    expect((await stat(join(path, name))).size).toBeLessThan(100_000_000);
  },
  faultsMs + 120_000,
);
