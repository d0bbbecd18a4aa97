/** The observations of clients of a stop, on connections that were open before the signal unless a field says otherwise. */
export interface Tally {
  /** Complete responses. */
  responses: number;
  /** Requests without a response. */
  lost: number;
  /** Lost requests whose connection was reset. */
  resets: number;
  /** Idle connections that the server closed. */
  closedIdle: number;
  /**
   * Requests without a response of clients that send about one a second. Such a client may send just when its
   * connection is closed: HTTP/1.1 cannot announce it.
   */
  raced: number;
  /** Streams of events, and how many did not end in order behind an event. */
  streams: number;
  brokenStreams: number;
  /** WebSockets, and how many received no `reconnect` before they were closed (1001). */
  sockets: number;
  abruptSockets: number;
  /** Acknowledged creates that are missing or stored twice. */
  missing: number;
  /** Stored creates on WebSockets without a response: a client would repeat them. */
  unanswered: number;
  /** Connections that were being opened during the stop, and were reset or closed without a response. */
  queued: number;
}

export const emptyTally = (): Tally => ({
  responses: 0,
  lost: 0,
  resets: 0,
  closedIdle: 0,
  raced: 0,
  streams: 0,
  brokenStreams: 0,
  sockets: 0,
  abruptSockets: 0,
  missing: 0,
  unanswered: 0,
  queued: 0,
});

export function addTally(sum: Tally, more: Readonly<Tally>): void {
  for (const name of Object.keys(sum) as (keyof Tally)[]) sum[name] += more[name];
}
