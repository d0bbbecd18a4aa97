import { EventSourceParserStream } from 'eventsource-parser/stream';

/** A server-sent event. */
export interface ReceivedEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: unknown;
}

/** Reads server-sent events until the client has `count` of them, and disconnects. */
export async function readEvents(
  url: string,
  count: number,
  headers: Readonly<Record<string, string>>,
): Promise<readonly ReceivedEvent[]> {
  const controller = new AbortController();
  const response = await fetch(url, { headers, signal: controller.signal });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  const events: ReceivedEvent[] = [];
  try {
    for await (const event of eventsOf(response)) {
      events.push(event);
      if (events.length === count) break;
    }
  } finally {
    controller.abort();
  }
  return events;
}

/** Parses server-sent events until the stream ends. */
export async function* eventsOf({ body }: Response): AsyncGenerator<ReceivedEvent, void, void> {
  const texts = body?.pipeThrough(new TextDecoderStream());
  for await (const { data, event = 'message', id } of texts?.pipeThrough(new EventSourceParserStream()) ??
    []) {
    yield { event, id, data: data === '' ? undefined : JSON.parse(data) };
  }
}
