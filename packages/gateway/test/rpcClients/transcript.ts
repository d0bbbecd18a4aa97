import { setTimeout as sleep } from 'node:timers/promises';
import { sortedLines } from '@petstore/testing/jsonLines';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { needs } from '../servers.ts';
import type { SocketRow } from './bytes.ts';
import type { Place } from './clients.ts';

/** The whole of a streamed answer, without what belongs to the server or the moment. */
export async function streamed(
  { http: { url, fetch } }: Place,
  target: string,
  headers: Readonly<Record<string, string>>,
) {
  const response = await fetch(`${url}${target}`, { headers });
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    cache: response.headers.get('cache-control'),
    vary: response.headers.get('vary'),
    buffering: response.headers.get('x-accel-buffering'),
    body: Buffer.from(await response.arrayBuffer()).toString('latin1'),
  };
}

/** The lines of a body, without the order among calls. A body without a line's end is an error of the whole request. */
export const withoutOrder = (body: string): readonly string[] =>
  body.includes('\n') ? sortedLines(body) : [body];

/** Every message that the server sent, text or binary, byte by byte, and how it closed where it did. */
export async function transcript(url: string, { send, closes }: SocketRow): Promise<string[]> {
  needs('WebSockets');
  const socket = new WebSocket(url);
  onTestFinished(() => socket.terminate());
  const seen: string[] = [];
  let wake = () => {};
  let isClosed = false;
  const note = (line: string) => {
    seen.push(line);
    wake();
  };
  socket.on('message', (data, isBinary) =>
    note(`${isBinary ? 'binary' : 'text'} ${(data as Buffer).toString('latin1')}`),
  );
  socket.on('close', (code, reason) => {
    isClosed = true;
    note(`closed ${code} ${reason.toString()}`);
  });
  await new Promise((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('error', reject);
  });
  const until = async (condition: () => boolean) => {
    while (!condition()) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const late = sleep(3000, 'late', { ref: false });
      if ((await Promise.race([woken, late])) === 'late') {
        note('nothing for 3 s');
        return;
      }
    }
  };
  let expected = 0;
  for (const [message, responses] of send) {
    socket.send(message);
    expected += responses;
    const count = expected;
    await until(() => seen.length >= count || isClosed);
  }
  if (closes) await until(() => isClosed);
  return seen;
}
