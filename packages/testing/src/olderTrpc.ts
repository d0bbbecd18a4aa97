/** The version of tRPC with which `.ci/peers` runs tests, if it is older than the one of this repository. */
const installed = process.env['OLDER_TRPC'];

/** Whether tRPC is older than a version, in which it has changed something that tests expect. */
export const isTrpcBefore = (version: string): boolean =>
  installed !== undefined && installed.localeCompare(version, 'en', { numeric: true }) < 0;

/** Headers that the adapters of an older tRPC send otherwise: `Vary` without `Accept`, and no `Allow` for a 405. */
export const changedHeaders: ReadonlySet<string> = new Set([
  ...(isTrpcBefore('11.13.4') ? ['vary'] : []),
  ...(isTrpcBefore('11.23.0') ? ['allow'] : []),
]);

/**
 * What tRPC has changed since 11.0, with the tests that expect it, by their full names. The gateway answers as the newest
 * adapters do with every version, so that the older ones differ from it. Versions are the first ones that were seen to have
 * the change.
 */
const changes: readonly (readonly [since: string, change: string, tests: RegExp])[] = [
  [
    '11.8.0',
    'errors of WebSockets',
    /a WebSocket with (connection parameters (of numbers|that)|a createContext that throws)/,
  ],
  ['11.13.4', 'JSON lines for `Accept`', /> (lines by Accept|one call with Accept of lines) has/],
  [
    '11.14.0',
    'errors in JSON lines without an input',
    /> lines (has|of mutations by GET|in which some) |JSON lines of (a batch with one|inputs that|superjson .* and) /,
  ],
  ['11.15.0', 'maxBatchSize', /(batch|, in a…).* the setting maxBatchSize$|more calls than maxBatchSize/],
  [
    '11.17.0',
    'codes of errors in the outputs of JSON lines',
    /lines of (promises in an output|an async iterable that)/,
  ],
  ['11.17.0', 'binary messages', /WebSocket messages for a binary message/],
  ['11.22.1', 'a 400 for an invalid path', /the setting unencodedPath$|[>:] a path .*(percent-encod|UTF-8)/],
  [
    '11.22.1',
    'exact media types of JSON',
    /content type (of JSON|APPLICATION|application\/jsonl)|the setting otherLinesType$/,
  ],
  [
    '11.22.1',
    'events that restore the last id',
    /> a subscription (after an event|by POST|of tracked events after) |rpcEventFormat writes|events of .*untracked events/,
  ],
  ['11.22.1', '.errors()', /readErrors (merges|calls)|> mapError sends the error|declared error of mapError/],
  ['11.22.1', 'AbortError of batches', /a client that aborts its calls over httpBatch/],
  ['11.23.0', '`Allow` for a 405', /is answered with 405 and Allow/],
  [
    '11.25.2',
    'how subscriptions of WebSockets end',
    /a WebSocket with (a subscription (that|whose) |an iterator that |an event that cannot)/,
  ],
  ['11.25.2', 'pathSeparator', /separator has/],
  [
    '11.25.2',
    'a mutation without a body',
    /a mutation (without a body has|with an empty body|whose input is in)/,
  ],
  ['11.25.2', 'a path with two slashes at its end', /: two slashes at the end/],
  ['11.25.2', 'subscriptions of clients as async iterables', /subscription without callbacks/],
  ['11.25.2', 'most of the above', /> lines of the outputs |to random messages in/],
  [
    '11.25.2',
    'synchronous parsing',
    /procedures\/boundTexts|parseFunction calls (a |the )|if all steps are synchronous/,
  ],
];

/** Returns what the installed tRPC lacks for a test. */
export function missingInTrpc(fullName: string): string | undefined {
  const missing = changes.find(([since, , tests]) => isTrpcBefore(since) && tests.test(fullName));
  return missing && `tRPC before ${missing[0]} has not: ${missing[1]}`;
}
