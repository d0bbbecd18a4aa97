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
  let text = '';
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const blocks = `${text}${piece}`.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(
        block.split('\n').map((line): [string, string] => {
          const colon = line.indexOf(':');
          return [line.slice(0, colon), line.slice(colon + 2)];
        }),
      );
      const data = fields.get('data');
      // The stream begins with a comment.
      if (data === undefined) continue;
      yield {
        event: fields.get('event') ?? 'message',
        id: fields.get('id'),
        data: data === '' ? undefined : JSON.parse(data),
      };
    }
  }
}
