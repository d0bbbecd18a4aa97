import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isParserError, readResponses } from './responses.ts';

export type Received = Awaited<ReturnType<typeof send>>;

/** The number of expected responses, and how long to wait for them, in milliseconds. */
export interface SendTimes {
  /** The expected number of responses. */
  readonly responses: number;
  /** The longest silence before the responses are complete. */
  readonly quietMs: number;
  /** The longest silence after the responses are complete, before the connection counts as open. */
  readonly settleMs: number;
}

/** How long the server may take to close after the client closed its side. */
const hangMs = 3000;

/**
 * Sends each piece in a TCP segment: two turns of the event loop after each let this process read it. Resolves with what the
 * server sent, whether it closed the connection before the client did (`isClosed`), and whether it kept it open after that.
 */
export async function send(
  port: number,
  pieces: readonly string[],
  { responses: expected, quietMs, settleMs }: SendTimes,
) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  const isHead = pieces.join('').startsWith('HEAD ');
  const state = { received: '', changes: 0, isEnded: false };
  // A reset also ends the connection: `once` rejects on an error.
  const closed = once(socket, 'close').catch(() => {});
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    state.received += chunk.toString('latin1');
    state.changes += 1;
  });
  const end = () => {
    state.isEnded = true;
  };
  socket.on('end', end).on('close', end);
  await Promise.race([once(socket, 'connect'), closed]);
  for (const piece of pieces) {
    if (state.isEnded) break;
    socket.write(Buffer.from(piece, 'latin1'));
    await turns(2);
  }
  for (let changes = -1; !state.isEnded && changes !== state.changes;) {
    ({ changes } = state);
    const isComplete = readResponses(state.received, isHead).responses.length >= Math.max(1, expected);
    const until = performance.now() + (isComplete ? settleMs : quietMs);
    while (!state.isEnded && changes === state.changes && performance.now() < until) await sleep(2);
    // On a stalled machine the time may be over before received bytes are read.
    await turns(4);
  }
  const { received, isEnded: isClosed } = state;
  socket.end();
  const late = await Promise.race([closed, sleep(hangMs, 'late', { ref: false })]);
  socket.destroy();
  return { ...readResponses(received, isHead), isClosed, isHung: late === 'late' };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
}

/**
 * `200, open` · `400, closed` · `400 by the parser, closed` · `nothing, closed`; `200, closed unsaid` if the last has
 * a length and no `Connection: close` (RFC 9112 §9.6), so that a client would use the connection again.
 */
export function describeReceived({ responses, rest, isClosed }: Received): string {
  const parts = responses.map(
    (response) => `${response.status}${isParserError(response) ? ' by the parser' : ''}`,
  );
  if (rest !== '') parts.push('garbage');
  const last = responses.at(-1);
  const isSaid = !last || isParserError(last) || last.headers.get('connection')?.toLowerCase() === 'close';
  const closed = isSaid ? 'closed' : 'closed unsaid';
  return `${parts.join(' ') || 'nothing'}, ${isClosed ? closed : 'open'}`;
}
