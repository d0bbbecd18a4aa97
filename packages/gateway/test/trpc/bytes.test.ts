import { describe, expect, it } from 'vitest';
import { jsonLines, lines, serverSentEvents, webSocketMessages } from './bytes.ts';
import { streamed, transcript, withoutOrder } from './transcript.ts';
import { serveGateway } from './gatewayServer.ts';
import { serveOfficial } from './officialServer.ts';
import { startWith } from './start.ts';

const startOfficial = startWith(serveOfficial);
const startGateway = startWith(serveGateway);

const byJson = (one: unknown, other: unknown) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);

describe('JSON lines, compared with tRPC’s adapter', () => {
  it.each(jsonLines)(
    'the JSON lines of $name equal those of tRPC’s adapter, except for the order of calls',
    async ({ target, headers = lines, options }) => {
      const [official, gateway] = await Promise.all([startOfficial(options), startGateway(options)]);
      const [expected, actual] = await Promise.all(
        [official, gateway].map(async ({ endpoints }) => {
          const { body, ...response } = await streamed(endpoints, target, headers);
          return { response, lines: withoutOrder(body) };
        }),
      );
      expect(expected?.lines).not.toEqual(['']);
      expect(actual).toEqual(expected);
      expect(gateway.errors.toSorted(byJson)).toEqual(official.errors.toSorted(byJson));
      expect(gateway.contexts).toEqual(official.contexts);
    },
  );
});

describe('server-sent events, compared with tRPC’s adapter', () => {
  it.each(serverSentEvents)(
    'the server-sent events of $name equal those of tRPC’s adapter byte for byte',
    async ({ target, headers = {}, options }) => {
      const [official, gateway] = await Promise.all([startOfficial(options), startGateway(options)]);
      const [expected, actual] = await Promise.all(
        [official, gateway].map(({ endpoints }) => streamed(endpoints, target, headers)),
      );
      expect(expected?.body).not.toBe('');
      expect(actual).toEqual(expected);
      expect(gateway.errors).toEqual(official.errors);
      expect(gateway.contexts).toEqual(official.contexts);
    },
  );
});

describe('WebSocket messages, compared with tRPC’s adapter', () => {
  it.each(webSocketMessages)(
    'the WebSocket messages for $name equal those of tRPC’s adapter byte for byte',
    async (row) => {
      const [official, gateway] = await Promise.all([startOfficial(row.options), startGateway(row.options)]);
      const [expected, actual] = await Promise.all(
        [official, gateway].map(({ endpoints }) => transcript(`${endpoints.ws}${row.query ?? ''}`, row)),
      );
      expect(expected?.length).toBeGreaterThan(0);
      expect(byId(actual)).toEqual(byId(expected));
      expect(gateway.errors).toEqual(official.errors);
      expect(gateway.contexts).toEqual(official.contexts);
    },
  );
});

/** Sorts frames by id and keeps the order within an id: concurrent calls may finish in any order. */
const byId = (frames: readonly string[] = []) => frames.toSorted((a, b) => idOf(a).localeCompare(idOf(b)));

const idOf = (frame: string) => /"id":("[^"]*"|[^,}]*)/.exec(frame)?.[1] ?? '';
