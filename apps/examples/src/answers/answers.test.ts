import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { connectClients } from './testing/clients.ts';
import { answerTo, authorization, newAnswers, newQuestion } from './testing/newAnswers.ts';

describe('an answer of a model on four processes', () => {
  let service: Awaited<ReturnType<typeof newAnswers>>;
  beforeAll(async () => {
    service = await newAnswers();
  });
  afterAll(() => service?.close());

  it('200 tabs read one answer with EventSource, httpSubscriptionLink and wsLink, and the model is called once', async () => {
    const question = newQuestion();
    for (const received of connectClients(service.origin, question, 200)) {
      expect(await received.ended).toBe('end');
      expect(received.text).toMatch(answerTo(question.question));
    }
    expect(service.calledBy(question.question)).toHaveLength(1);
  });

  it('when the process of the model is killed, every client gets the reason lost, or 409 if it connects again', async () => {
    const question = newQuestion();
    const all = connectClients(service.origin, question, 48);
    await expect.poll(() => all.every(({ text }) => text !== '')).toBe(true);
    process.kill(service.calledBy(question.question)[0] ?? 0, 'SIGKILL');
    for (const { ended } of all) expect(['lost', 'status 409']).toContain(await ended);
  });

  it('an agent receives the words of the answer as progress, again if it calls again, and the model is called once', async () => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    const url = new URL(`${service.origin}/mcp`);
    const requestInit = { headers: { authorization } };
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
    onTestFinished(() => client.close());
    const question = newQuestion();
    for (let calls = 0; calls < 2; calls += 1) {
      let text = '';
      const result = await client.callTool(
        { name: 'answer', arguments: { ...question } },
        { onprogress: ({ message = '' }) => (text += message) },
      );
      expect(text).toMatch(answerTo(question.question));
      expect(result.content).toEqual([{ type: 'text', text: 'ten.' }]);
    }
    expect(service.calledBy(question.question)).toHaveLength(1);
  });
});
