import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isOfTheParser, readResponses, type RawResponse } from './responses.ts';

/** What came back on a connection. */
export interface Received {
  readonly responses: readonly RawResponse[];
  /** What came that is no whole response. */
  readonly rest: string;
  /** Whether the server closed the connection, while ours was open. What comes after we close ours is not looked at. */
  readonly isClosed: boolean;
  /** Whether it stayed open even when ours was closed. */
  readonly isHung: boolean;
}

export interface Patience {
  /** How many answers to expect. */
  readonly responses: number;
  /** How long to wait for an answer, or the end, since something last happened, in milliseconds. */
  readonly quietMs: number;
  /** How long to wait for the end when all answers are there. */
  readonly settleMs: number;
}

/** How long the end may take when our side is closed. */
const hangMs = 3000;

/**
 * Sends pieces, each in a segment and a read of its own, and hears the server out. The server runs in the same process or
 * another: it has had its turn when a few of ours have passed.
 */
export async function send(
  port: number,
  pieces: readonly string[],
  { responses: expected, quietMs, settleMs }: Patience,
): Promise<Received> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  const isHead = pieces.join('').startsWith('HEAD ');
  const seen = { received: '', changes: 0, isOver: false };
  // A reset is an end, too: `once` rejects on an error.
  const closed = once(socket, 'close').catch(() => {});
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    seen.received += chunk.toString('latin1');
    seen.changes += 1;
  });
  const over = () => {
    seen.isOver = true;
  };
  socket.on('end', over).on('close', over);
  await Promise.race([once(socket, 'connect'), closed]);
  for (const piece of pieces) {
    if (seen.isOver) break;
    socket.write(Buffer.from(piece, 'latin1'));
    await turns(2);
  }
  for (let changes = -1; !seen.isOver && changes !== seen.changes;) {
    ({ changes } = seen);
    const isComplete = readResponses(seen.received, isHead).responses.length >= Math.max(1, expected);
    const until = performance.now() + (isComplete ? settleMs : quietMs);
    while (!seen.isOver && changes === seen.changes && performance.now() < until) await sleep(2);
    // Where the machine stalls, time passes before what came is read.
    await turns(4);
  }
  const { received, isOver: isClosed } = seen;
  socket.end();
  const late = await Promise.race([closed, sleep(hangMs, 'late', { ref: false })]);
  socket.destroy();
  return { ...readResponses(received, isHead), isClosed, isHung: late === 'late' };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
}

/** In words: `200, open` · `400, closed` · `400 by the parser, closed` · `200 200, open` · `nothing, closed`. */
export function describeReceived({ responses, rest, isClosed }: Received): string {
  const said = responses.map(
    (response) => `${response.status}${isOfTheParser(response) ? ' by the parser' : ''}`,
  );
  if (rest !== '') said.push('garbage');
  return `${said.join(' ') || 'nothing'}, ${isClosed ? 'closed' : 'open'}`;
}
