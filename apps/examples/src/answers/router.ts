import { initTRPC, TRPCError } from '@trpc/server';
import { streamText, toUIMessageStream, type UIMessageChunk } from 'ai';
import type { GatewayMeta } from 'trpc-gateway/procedures';
import { type Resumable, runErrors } from 'trpc-gateway-shared';
import { z } from 'zod';
import type { SlowModel } from './model.ts';

interface Context {
  readonly user: string | undefined;
  readonly model: SlowModel;
  readonly answers: Resumable<string>;
  readonly chats: Resumable<UIMessageChunk>;
}

const t = initTRPC.context<Context>().meta<GatewayMeta>().create();

/** A question with an id that its page creates. The keys of answers contain the user, so that nobody else can read them. */
const Question = z.object({
  id: z.uuid(),
  question: z.string().max(1000),
  lastEventId: z.string().optional(),
});

const question = t.procedure
  .errors(runErrors)
  .input(Question)
  .use(({ ctx: { user }, next }) => {
    if (user === undefined) throw new TRPCError({ code: 'UNAUTHORIZED' });
    return next({ ctx: { user } });
  });

export const answersRouter = t.router({
  answer: question
    .meta({
      openapi: { method: 'GET', path: '/answers/{id}' },
      mcp: { description: 'Answers a question slowly. A call with the same id continues the answer.' },
    })
    .subscription(({ ctx: { answers, model, user }, input: { id, lastEventId, question: text }, signal }) =>
      answers.join(`${user}:${id}`, {
        caller: user,
        lastEventId,
        signal,
        produce: (stop) => model.ask(text, stop),
      }),
    ),

  /** For `useChat` of the AI SDK. */
  chat: question
    .meta({ openapi: { method: 'GET', path: '/chats/{id}' } })
    .subscription(({ ctx: { chats, model, user }, input: { id, lastEventId, question: prompt }, signal }) =>
      chats.join(`${user}:${id}`, {
        caller: user,
        lastEventId,
        signal,
        produce: (abortSignal) =>
          toUIMessageStream(streamText({ model: model.forAiSdk(), prompt, abortSignal })),
      }),
    ),
});
export type AnswersRouter = typeof answersRouter;
