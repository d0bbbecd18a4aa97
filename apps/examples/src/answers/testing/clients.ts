import { createTRPCClient, createWSClient, httpSubscriptionLink, type TRPCLink, wsLink } from '@trpc/client';
import { EventSource } from 'eventsource';
import type { EventSourceMessage } from 'eventsource-parser';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { onTestFinished } from 'vitest';
import type { AnswersRouter } from '../router.ts';
import { authorization, type Question } from './newAnswers.ts';

/** What a client received, until it ended. It ends with the test. */
export class Received {
  text = '';
  /** Whether its connection was lost. */
  wasCut = false;
  readonly #ended = Promise.withResolvers<string>();

  add(text: unknown): void {
    this.text += String(text);
  }

  /** @param reason `end`, or the reason why the run was stopped */
  end(reason: unknown): void {
    this.#ended.resolve(typeof reason === 'string' ? reason : JSON.stringify(reason));
  }

  get ended(): Promise<string> {
    return this.#ended.promise;
  }
}

type Connect = (origin: string, question: Question, received: Received) => void;

/** The body of an error, of `RUN_STOPPED` the reason alone. */
const reasonOf = (body: { readonly data?: object }) =>
  body.data && 'reason' in body.data ? body.data.reason : body;

const answerUrl = (origin: string, { id, question }: Question) =>
  `${origin}/v1/answers/${id}?${new URLSearchParams({ question })}`;

/** Reads the answer with `fetch`, and connects again if its connection is lost. */
async function readWithFetch(origin: string, question: Question, received: Received): Promise<void> {
  let lastEventId: string | undefined;
  for (;;) {
    try {
      for await (const { data, event, id } of fetchEvents(origin, question, lastEventId)) {
        if (event === 'end') return received.end('end');
        if (event === 'error') return received.end(reasonOf(JSON.parse(data)));
        if (data === '') continue;
        lastEventId = id;
        received.add(JSON.parse(data));
      }
    } catch {
      received.wasCut = true;
    }
  }
}

/** Yields the events of an answer. */
export async function* fetchEvents(
  origin: string,
  question: Question,
  lastEventId?: string,
): AsyncGenerator<EventSourceMessage> {
  const headers = {
    authorization,
    connection: 'close',
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  };
  const { body } = await fetch(answerUrl(origin, question), { headers });
  yield* body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream()) ?? [];
}

function readWithTrpc(link: TRPCLink<AnswersRouter>, question: Question, received: Received): void {
  const client = createTRPCClient<AnswersRouter>({ links: [link] });
  const subscription = client.answer.subscribe(question, {
    onData: ({ data }) => received.add(data),
    onComplete: () => received.end('end'),
    // Errors other than those that are declared have no data of their own.
    onError: ({ data, message }) => received.end(data && 'data' in data ? reasonOf(data) : message),
    onConnectionStateChange: ({ error }) => {
      if (error) received.wasCut = true;
    },
  });
  onTestFinished(() => subscription.unsubscribe());
}

const clients: Readonly<Record<string, Connect>> = {
  fetch: (origin, question, received) => void readWithFetch(origin, question, received),

  EventSource(origin, question, received) {
    const source = new EventSource(answerUrl(origin, question), {
      fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, authorization } }),
    });
    onTestFinished(() => source.close());
    source.addEventListener('message', ({ data }) => received.add(JSON.parse(data)));
    source.addEventListener('end', () => received.end('end'));
    source.addEventListener('error', (event) => {
      if ('data' in event) received.end(reasonOf(JSON.parse(String(event.data))));
      // If the run has no more events, the response is an error, of which an EventSource does not read the body.
      else if (source.readyState === source.CLOSED) received.end(`status ${event.code}`);
      else received.wasCut = true;
    });
  },

  httpSubscriptionLink: (origin, question, received) =>
    readWithTrpc(
      httpSubscriptionLink({ url: `${origin}/trpc`, EventSource, connectionParams: { authorization } }),
      question,
      received,
    ),

  wsLink(origin, question, received) {
    const client = createWSClient({
      url: `${origin.replace('http', 'ws')}/trpc`,
      connectionParams: { authorization },
    });
    onTestFinished(() => client.close());
    readWithTrpc(wsLink({ client }), question, received);
  },
};

/** Connects as many clients, of all kinds. */
export const connectClients = (origin: string, question: Question, count: number): Received[] =>
  Array.from({ length: count }, (_, at) => {
    const received = new Received();
    const connect = Object.values(clients).at(at % Object.keys(clients).length);
    connect?.(origin, question, received);
    return received;
  });
