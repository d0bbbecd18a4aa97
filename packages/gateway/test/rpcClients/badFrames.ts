import { setTimeout as sleep } from 'node:timers/promises';
import { adapterOfRun } from '../adapters.ts';
import { finish, isCommand, readCommandLine } from './commandLine.ts';
import { fuzzedFrames, isServed, sentinel } from './fuzzedFrames.ts';
import { megabytes, startRpcProcess, type Subject } from './startRpcProcess.ts';
import { closePayload, frame } from './webSocketFrame.ts';
import { malformedFrames, malformedMessages } from './malformedFrames.ts';
import { probe } from './webSocketProbe.ts';

export interface BadFramesOptions {
  readonly subject: Subject;
  readonly messages: number;
  readonly seed: number;
}

export interface BadFrames {
  readonly measured: object;
  /** What should not be. */
  readonly faults: readonly string[];
}

export const shortBadFrames = { messages: 500 } as const;
const longBadFrames = { messages: 10_000 } as const;

/** Frames and messages that no client sends: to each an error, or the end of its connection; then the next is served. */
export async function badFrames({ subject, messages, seed }: BadFramesOptions): Promise<BadFrames> {
  const server = await startRpcProcess(subject);
  const faults: string[] = [];
  const closedWith: Record<string, number> = {};
  const ends = new Map<number, number>();
  try {
    const before = await server.report();
    const isUws = subject === 'gateway' && adapterOfRun() === 'uws';
    for (const { name, bytes, ...codes } of malformedFrames) {
      const code = isUws ? codes.uws : codes.code;
      const { socket, closed } = await probe(server.port);
      socket.write(bytes);
      const outcome = await Promise.race([closed, sleep(3000, 'not at all', { ref: false })]);
      if (outcome !== code) faults.push(`${name}: closed with ${outcome}, not ${code}`);
      closedWith[outcome] = (closedWith[outcome] ?? 0) + 1;
      socket.destroy();
    }
    for (const [name, text] of malformedMessages) {
      const { socket, received, until } = await probe(server.port);
      socket.write(Buffer.concat([frame(text), sentinel]));
      await until(() => isServed(received));
      const [first] = received.texts;
      if (first === undefined || !('error' in JSON.parse(first)))
        faults.push(`${name}: no error but ${first}`);
      if (!isServed(received)) faults.push(`${name}: the socket does not serve on`);
      socket.destroy();
    }

    let [sent, responses, errors, connections] = [0, 0, 0, 0];
    const connection = async () => {
      while (sent < messages && server.crash() === undefined) {
        const index = (connections += 1);
        const { socket, received, closed, until } = await probe(server.port);
        const frames = fuzzedFrames(seed, index).slice(0, messages - sent);
        sent += frames.length;
        socket.write(Buffer.concat(frames));
        socket.write(sentinel);
        await until(() => isServed(received));
        responses += received.texts.length;
        errors += received.texts.filter((text) => text.includes('"error"')).length;
        if (isServed(received)) {
          socket.end(frame(closePayload(1000), { opcode: 8 }));
        } else {
          const code = await Promise.race([closed, sleep(100, undefined, { ref: false })]);
          if (code === undefined) faults.push(`connection ${index} of seed ${seed} hangs`);
          else ends.set(code, (ends.get(code) ?? 0) + 1);
        }
        socket.destroy();
      }
    };
    await Promise.all(Array.from({ length: 8 }, connection));
    const end = performance.now() + 5000;
    while (performance.now() < end && (await server.report()).liveCalls > 0) await sleep(50);
    const after = await server.report();
    if (after.liveCalls > 0) faults.push(`${after.liveCalls} calls run on without a client`);
    const response = await fetch(`http://127.0.0.1:${server.port}/trpc/hello`);
    if (!(await response.text()).includes('Hello, world!')) faults.push('it answers no more');
    return {
      measured: {
        subject,
        seed,
        malformed: { frames: malformedFrames.length, closedWith, messages: malformedMessages.length },
        fuzzed: {
          messages: sent,
          connections,
          answers: responses,
          errors,
          connectionsClosedWith: Object.fromEntries(ends),
        },
        liveCallsAfterwards: after.liveCalls,
        rssMB: { before: megabytes(before.rss), after: megabytes(after.rss) },
      },
      faults,
    };
  } catch (cause) {
    const crash = server.crash();
    if (crash === undefined) throw cause;
    return { measured: { subject, seed }, faults: [...faults, crash] };
  } finally {
    await server.stop();
  }
}

if (isCommand(import.meta)) {
  const { subject, isLong, seed } = readCommandLine();
  const { measured, faults } = await badFrames({
    subject,
    seed,
    ...(isLong ? longBadFrames : shortBadFrames),
  });
  finish(measured, faults);
}
