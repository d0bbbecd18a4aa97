import type { TRPCClient } from '@trpc/client';
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import type { AnswersRouter } from '../router.ts';

/** An answer that a chat waits for. */
interface Answer {
  readonly id: string;
  readonly question: UIMessage;
}

type SendOptions = Parameters<ChatTransport<UIMessage>['sendMessages']>[0];
type ReconnectOptions = Parameters<ChatTransport<UIMessage>['reconnectToStream']>[0];

/**
 * Connects `useChat` to a resumable procedure. After a lost connection, the tRPC client continues after the last chunk; after a reload
 * of the page, `useChat` with `resume: true` gets the answer from its first chunk.
 */
export class ResumableChatTransport implements ChatTransport<UIMessage> {
  readonly resumeStreamIsReplay = true;
  readonly #client: TRPCClient<AnswersRouter>;
  readonly #storage: Pick<Storage, 'getItem' | 'setItem'>;

  /** @param storage keeps the last question of each chat, such as `sessionStorage` */
  constructor(client: TRPCClient<AnswersRouter>, storage: Pick<Storage, 'getItem' | 'setItem'>) {
    this.#client = client;
    this.#storage = storage;
  }

  async sendMessages({ abortSignal, chatId, messages }: SendOptions) {
    const question = messages.at(-1);
    if (question === undefined) throw new Error('There is no question.');
    const answer: Answer = { id: crypto.randomUUID(), question };
    this.#storage.setItem(chatId, JSON.stringify(answer));
    return this.#join(answer, abortSignal);
  }

  async reconnectToStream({ abortSignal, chatId }: ReconnectOptions) {
    const answer = this.#answerOf(chatId);
    return answer === undefined ? null : this.#join(answer, abortSignal);
  }

  /** Returns the messages with which a page begins. A service with a database of messages loads them from there. */
  messagesOf(chatId: string): UIMessage[] {
    const answer = this.#answerOf(chatId);
    return answer === undefined ? [] : [answer.question];
  }

  #answerOf(chatId: string): Answer | undefined {
    const stored = this.#storage.getItem(chatId);
    return stored === null ? undefined : (JSON.parse(stored) as Answer); // Stored by `sendMessages`.
  }

  #join({ id, question }: Answer, signal: AbortSignal | undefined): ReadableStream<UIMessageChunk> {
    const text = question.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
    let unsubscribe = () => {};
    return new ReadableStream<UIMessageChunk>({
      start: (controller) => {
        if (signal?.aborted) return controller.error(signal.reason);
        const answer = this.#client.chat.subscribe(
          { id, question: text },
          {
            // tRPC's clients have optional properties where the AI SDK has unknown ones.
            onData: ({ data }) => controller.enqueue(data as UIMessageChunk),
            onError: (error) => controller.error(error),
            onComplete: () => controller.close(),
          },
        );
        unsubscribe = () => answer.unsubscribe();
        const stop = () => {
          unsubscribe();
          controller.error(signal?.reason);
        };
        signal?.addEventListener('abort', stop, { once: true });
      },
      cancel: () => unsubscribe(),
    });
  }
}
