import { describe, expect, it } from 'vitest';
import { jsonLines, lines, serverSentEvents, webSocketMessages } from './bytes.ts';
import { streamed, transcript, withoutOrder } from './transcript.ts';
import { serveGateway } from './gateway.ts';
import { serveOfficial } from './officialServer.ts';
import { startWith } from './start.ts';

const startOfficial = startWith(serveOfficial);
const startGateway = startWith(serveGateway);

const byText = (one: unknown, other: unknown) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);

describe('JSON lines, byte for byte but for the order of calls', () => {
  it.each(jsonLines)('$name', async ({ target, headers = lines, options }) => {
    const [official, gateway] = await Promise.all([startOfficial(options), startGateway(options)]);
    const [expected, actual] = await Promise.all(
      [official, gateway].map(async ({ place }) => {
        const { body, ...response } = await streamed(place, target, headers);
        return { response, lines: withoutOrder(body) };
      }),
    );
    expect(expected?.lines).not.toEqual(['']);
    expect(actual).toEqual(expected);
    expect(gateway.errors.toSorted(byText)).toEqual(official.errors.toSorted(byText));
    expect(gateway.contexts).toEqual(official.contexts);
  });
});

describe('server-sent events, byte for byte', () => {
  it.each(serverSentEvents)('$name', async ({ target, headers = {}, options }) => {
    const [official, gateway] = await Promise.all([startOfficial(options), startGateway(options)]);
    const [expected, actual] = await Promise.all(
      [official, gateway].map(({ place }) => streamed(place, target, headers)),
    );
    expect(expected?.body).not.toBe('');
    expect(actual).toEqual(expected);
    expect(gateway.errors).toEqual(official.errors);
    expect(gateway.contexts).toEqual(official.contexts);
  });
});

describe('WebSocket messages, byte for byte', () => {
  it.each(webSocketMessages)('$name', async (row) => {
    const [official, gateway] = await Promise.all([startOfficial(row.options), startGateway(row.options)]);
    const [expected, actual] = await Promise.all(
      [official, gateway].map(({ place }) => transcript(`${place.ws}${row.query ?? ''}`, row)),
    );
    expect(expected?.length).toBeGreaterThan(0);
    expect(byId(actual)).toEqual(byId(expected));
    expect(gateway.errors).toEqual(official.errors);
    expect(gateway.contexts).toEqual(official.contexts);
  });
});

/** Frames in the order received for each id: those of concurrent calls come in any order. */
const byId = (frames: readonly string[] = []) => frames.toSorted((a, b) => idOf(a).localeCompare(idOf(b)));

const idOf = (frame: string) => /"id":("[^"]*"|[^,}]*)/.exec(frame)?.[1] ?? '';
