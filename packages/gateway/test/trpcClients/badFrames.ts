import { setTimeout as sleep } from 'node:timers/promises';
import { adapterOfRun } from '../adapters.ts';
import type { Measured } from '../load/levels.ts';
import { runCommand } from './commandLine.ts';
import { fuzzedFrames, isServed, sentinel } from './fuzzedFrames.ts';
import { megabytes, startRpcProcess, type Subject } from './startRpcProcess.ts';
import { closePayload, frame } from './webSocketFrame.ts';
import { malformedFrames, malformedMessages } from './malformedFrames.ts';
import { probe } from './webSocketProbe.ts';

interface BadFramesOptions {
  readonly subject: Subject;
  readonly messages: number;
  readonly seed: number;
}

export const shortBadFrames = { messages: 500 } as const;
const longBadFrames = { messages: 10_000 } as const;

/** Sends malformed and fuzzed frames and messages. The server must answer each with an error or close its connection. */
export async function badFrames({ subject, messages, seed }: BadFramesOptions): Promise<Measured> {
  const server = await startRpcProcess(subject);
  const problems: string[] = [];
  const closedWith: Record<string, number> = {};
  const closeCodes = new Map<number, number>();
  try {
    const before = await server.report();
    const isUws = subject === 'gateway' && adapterOfRun() === 'uws';
    for (const { name, bytes, ...codes } of malformedFrames) {
      const code = isUws ? codes.uws : codes.code;
      const { socket, closed } = await probe(server.port);
      socket.write(bytes);
      const outcome = await Promise.race([closed, sleep(3000, 'not closed within 3 s', { ref: false })]);
      if (outcome !== code) problems.push(`${name}: expected close code ${code}, got ${outcome}`);
      closedWith[outcome] = (closedWith[outcome] ?? 0) + 1;
      socket.destroy();
    }
    for (const [name, text] of malformedMessages) {
      const { socket, received, until } = await probe(server.port);
      socket.write(Buffer.concat([frame(text), sentinel]));
      await until(() => isServed(received));
      const [first] = received.texts;
      if (first === undefined || !('error' in JSON.parse(first)))
        problems.push(`${name}: expected an error, got ${first ?? 'no response'}`);
      if (!isServed(received)) problems.push(`${name}: the WebSocket answers no further message`);
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
          if (code === undefined)
            problems.push(`connection ${index} with seed ${seed} neither answers nor closes`);
          else closeCodes.set(code, (closeCodes.get(code) ?? 0) + 1);
        }
        socket.destroy();
      }
    };
    await Promise.all(Array.from({ length: 8 }, connection));
    const after = await server.reportWhenIdle();
    if (after.liveCalls > 0)
      problems.push(`${after.liveCalls} calls are still running after their clients disconnected`);
    const response = await fetch(`http://127.0.0.1:${server.port}/trpc/hello`);
    if (!(await response.text()).includes('Hello, world!'))
      problems.push('the server no longer answers GET /trpc/hello');
    return {
      measured: {
        subject,
        seed,
        malformed: { frames: malformedFrames.length, closedWith, messages: malformedMessages.length },
        fuzzed: {
          messages: sent,
          connections,
          responses,
          errors,
          connectionsClosedWith: Object.fromEntries(closeCodes),
        },
        liveCallsAfterwards: after.liveCalls,
        rssMB: { before: megabytes(before.rss), after: megabytes(after.rss) },
      },
      problems,
    };
  } catch (cause) {
    const crash = server.crash();
    if (crash === undefined) throw cause;
    return { measured: { subject, seed }, problems: [...problems, crash] };
  } finally {
    await server.stop();
  }
}

await runCommand(import.meta, ({ subject, isLong, seed }) =>
  badFrames({ subject, seed, ...(isLong ? longBadFrames : shortBadFrames) }),
);
