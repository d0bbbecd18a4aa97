import { createTRPCClient, createWSClient, httpSubscriptionLink, type TRPCLink, wsLink } from '@trpc/client';
import { EventSource } from 'eventsource';
import { onTestFinished } from 'vitest';
import type { AnswersRouter } from '../router.ts';
import { authorization, type Question } from './newAnswers.ts';

/** What a client received. It ends with the test. */
class Received {
  text = '';
  /** `end`, or the reason why the run was stopped. */
  readonly ended: Promise<string>;
  readonly end: (reason: unknown) => void;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.ended = promise;
    this.end = (reason) => resolve(typeof reason === 'string' ? reason : JSON.stringify(reason));
  }
}

type Connect = (origin: string, question: Question, received: Received) => void;

/** The body of an error, of `RUN_STOPPED` the reason alone. */
const reasonOf = (body: { readonly data?: object }) =>
  body.data && 'reason' in body.data ? body.data.reason : body;

function readWithTrpc(link: TRPCLink<AnswersRouter>, question: Question, received: Received): void {
  const client = createTRPCClient<AnswersRouter>({ links: [link] });
  const subscription = client.answer.subscribe(question, {
    onData: ({ data }) => (received.text += data),
    onComplete: () => received.end('end'),
    // Errors other than those that are declared have no data of their own.
    onError: ({ data, message }) => received.end(data && 'data' in data ? reasonOf(data) : message),
  });
  onTestFinished(() => subscription.unsubscribe());
}

const clients: readonly Connect[] = [
  (origin, { id, question }, received) => {
    const source = new EventSource(`${origin}/v1/answers/${id}?${new URLSearchParams({ question })}`, {
      fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, authorization } }),
    });
    onTestFinished(() => source.close());
    source.addEventListener('message', ({ data }) => (received.text += JSON.parse(data)));
    source.addEventListener('end', () => received.end('end'));
    source.addEventListener('error', (event) => {
      if ('data' in event) received.end(reasonOf(JSON.parse(String(event.data))));
      // If the run has no more events, the response is an error, of which an EventSource does not read the body.
      else if (source.readyState === source.CLOSED) received.end(`status ${event.code}`);
    });
  },
  (origin, question, received) => {
    const options = { url: `${origin}/trpc`, EventSource, connectionParams: { authorization } };
    readWithTrpc(httpSubscriptionLink(options), question, received);
  },
  (origin, question, received) => {
    const url = `${origin.replace('http', 'ws')}/trpc`;
    const client = createWSClient({ url, connectionParams: { authorization } });
    onTestFinished(() => client.close());
    readWithTrpc(wsLink({ client }), question, received);
  },
];

/** Connects as many clients, in turn with EventSource, httpSubscriptionLink and wsLink. */
export const connectClients = (origin: string, question: Question, count: number): Received[] =>
  Array.from({ length: count }, (_, at) => {
    const received = new Received();
    clients[at % clients.length]?.(origin, question, received);
    return received;
  });
