import { setTimeout as sleep } from 'node:timers/promises';
import { MockLanguageModelV4 } from 'ai/test';
import type { ServiceLog } from 'trpc-gateway-runtime';

/** A stand-in for a language model, which answers a word at a time. */
export class SlowModel {
  readonly #wordMs: number;
  readonly #log: ServiceLog;

  constructor(wordMs: number, log: ServiceLog) {
    this.#wordMs = wordMs;
    this.#log = log;
  }

  async *ask(question: string, signal?: AbortSignal): AsyncGenerator<string, void, void> {
    this.#log.info({ question }, 'the model is called');
    const answer = `Process ${process.pid} was asked “${question}”. It answers slowly, a word at a time, whoever reads it, and says so: one, two, three, four, five, six, seven, eight, nine, ten.`;
    for (const word of answer.split(/(?<= )/)) {
      await sleep(this.#wordMs, undefined, { signal });
      yield word;
    }
  }

  /** Returns the model as the AI SDK calls it. */
  forAiSdk(): MockLanguageModelV4 {
    const words = (question: string, signal: AbortSignal | undefined) => this.ask(question, signal);
    return new MockLanguageModelV4({
      async doStream({ abortSignal, prompt }) {
        const content = prompt.at(-1)?.content;
        const text = Array.isArray(content) ? content.find((part) => part.type === 'text')?.text : content;
        return {
          stream: new ReadableStream({
            async start(controller) {
              for await (const part of parts(words(text ?? '', abortSignal))) controller.enqueue(part);
              controller.close();
            },
          }),
        };
      },
    });
  }
}

async function* parts(words: AsyncIterable<string>) {
  yield { type: 'text-start', id: '1' } as const;
  for await (const delta of words) yield { type: 'text-delta', id: '1', delta } as const;
  yield { type: 'text-end', id: '1' } as const;
  yield {
    type: 'finish',
    finishReason: { unified: 'stop', raw: 'stop' },
    usage: {
      inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 0, text: 0, reasoning: 0 },
    },
  } as const;
}
