import { setTimeout as sleep } from 'node:timers/promises';
import { sortedLines } from '@petstore/testing/jsonLines';
import { changedHeaders } from '@petstore/testing/olderTrpc';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { needs } from '../servers.ts';
import type { SocketRow } from './bytes.ts';
import type { Endpoints } from './clients.ts';

/** Returns the status, relevant headers and body of a streamed response, without headers that differ per server or time. */
export async function streamed(
  { http: { url, fetch } }: Endpoints,
  target: string,
  headers: Readonly<Record<string, string>>,
) {
  const response = await fetch(`${url}${target}`, { headers });
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    cache: response.headers.get('cache-control'),
    vary: !changedHeaders.has('vary') && response.headers.get('vary'),
    buffering: response.headers.get('x-accel-buffering'),
    body: Buffer.from(await response.arrayBuffer()).toString('latin1'),
  };
}

/** Returns the lines of a body, sorted by call. A body without a line break is one error for the whole request. */
export const withoutOrder = (body: string): readonly string[] =>
  body.includes('\n') ? sortedLines(body) : [body];

/** Sends a row's messages and returns every message of the server, text or binary, and its close code and reason. */
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
