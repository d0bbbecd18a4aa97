/** What clients saw of a stop. Of connections that were open before the signal, unless it says otherwise. */
export interface Tally {
  /** Answers that came whole. */
  answered: number;
  /** Requests that were sent, and whose answer never came. */
  lost: number;
  /** Those of them whose connection was reset. */
  resets: number;
  /** Connections that the server closed while nothing was asked on them. */
  closedIdle: number;
  /**
   * Requests of quiet clients, which ask once a second or so, without an answer. Such a client may ask just when its
   * connection is closed: nothing in HTTP/1.1 tells it before.
   */
  raced: number;
  /** Streams of events, and how many did not end in order behind an event. */
  streams: number;
  brokenStreams: number;
  /** WebSockets, and how many were not told to connect anew before they were closed (1001). */
  sockets: number;
  untoldSockets: number;
  /** Creates that were answered and are not there, or there twice. */
  missing: number;
  /** Creates on WebSockets that were not answered and are there all the same: a client would ask for them again. */
  unanswered: number;
  /** Connections that were being opened during the stop, and were reset or closed without an answer. */
  queued: number;
}

export const emptyTally = (): Tally => ({
  answered: 0,
  lost: 0,
  resets: 0,
  closedIdle: 0,
  raced: 0,
  streams: 0,
  brokenStreams: 0,
  sockets: 0,
  untoldSockets: 0,
  missing: 0,
  unanswered: 0,
  queued: 0,
});

export function addTally(sum: Tally, more: Readonly<Tally>): void {
  for (const name of Object.keys(sum) as (keyof Tally)[]) sum[name] += more[name];
}
