import { createTRPCClient, type TRPCLink } from '@trpc/client';
import { observable } from '@trpc/server/observable';
import type { UIMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import type { AnswersRouter } from '../router.ts';
import { ResumableChatTransport } from './transport.ts';

/** Returns a transport whose answers begin and never end, and how many subscriptions are open. */
function newTransport() {
  const open = new Set<object>();
  const link: TRPCLink<AnswersRouter> = () => () =>
    observable((observer) => {
      open.add(observer);
      observer.next({ result: { type: 'data', data: { id: 'a-1', data: { type: 'start' } } } });
      return () => void open.delete(observer);
    });
  const stored = new Map<string, string>();
  const transport = new ResumableChatTransport(createTRPCClient<AnswersRouter>({ links: [link] }), {
    getItem: (key) => stored.get(key) ?? null,
    setItem: (key, value) => void stored.set(key, value),
  });
  return { open, transport };
}

const question: UIMessage = { id: 'q', role: 'user', parts: [{ type: 'text', text: 'Why?' }] };

const send = (transport: ResumableChatTransport, abortSignal: AbortSignal) =>
  transport.sendMessages({
    trigger: 'submit-message',
    chatId: 'chat',
    messageId: undefined,
    messages: [question],
    abortSignal,
  });

async function reconnect(transport: ResumableChatTransport, abortSignal: AbortSignal) {
  await (await send(transport, new AbortController().signal)).cancel();
  return transport.reconnectToStream({ chatId: 'chat', abortSignal });
}

describe.each([
  ['sendMessages', send],
  ['reconnectToStream', reconnect],
])('a stream of %s', (_, join) => {
  it('fails with the reason of its signal when that aborts, and ends the subscription', async () => {
    const { open, transport } = newTransport();
    const controller = new AbortController();
    const reader = (await join(transport, controller.signal))?.getReader();
    expect(await reader?.read()).toEqual({ done: false, value: { type: 'start' } });
    const next = reader?.read();
    controller.abort();
    await expect(next).rejects.toThrow(controller.signal.reason);
    expect(open.size).toBe(0);
  });

  it('fails, and does not subscribe, if its signal has aborted before', async () => {
    const { open, transport } = newTransport();
    const signal = AbortSignal.abort();
    const reader = (await join(transport, signal))?.getReader();
    await expect(reader?.read()).rejects.toThrow(signal.reason);
    expect(open.size).toBe(0);
  });
});
