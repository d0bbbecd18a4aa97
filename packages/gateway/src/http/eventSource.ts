import type { HttpRequest } from './request.ts';
import type { Header } from './response.ts';

/** The headers of an event stream of REST and MCP: they keep proxies from buffering events. */
export const eventStreamHeaders: readonly Header[] = [
  ['content-type', 'text/event-stream'],
  ['cache-control', 'no-cache, no-transform'],
  ['x-accel-buffering', 'no'],
];

/** Whether the client is an `EventSource`, which connects again when a stream ends, but never after another status than 200. */
export const isEventSource = (request: Pick<HttpRequest, 'header'>): boolean =>
  request.header('accept') === 'text/event-stream';

/** Returns the field of a stream by which an `EventSource` connects again, up to a second later so that not all do at once. */
export const retryField = (seconds: number): string =>
  `retry: ${Math.round((seconds + Math.random()) * 1000)}\n`;
