import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { connectClients, fetchEvents } from './testing/clients.ts';
import { answerTo, authorization, newAnswers, newQuestion } from './testing/newAnswers.ts';

describe('an answer of a model on four processes', () => {
  let service: Awaited<ReturnType<typeof newAnswers>>;
  beforeAll(async () => {
    service = await newAnswers();
  });
  afterAll(() => service?.close());

  it('200 tabs read one answer with fetch, EventSource, httpSubscriptionLink and wsLink, and the model is called once', async () => {
    const question = newQuestion();
    for (const received of connectClients(service.origin, question, 200)) {
      expect(await received.ended).toBe('end');
      expect(received.text).toMatch(answerTo(question.question));
    }
    expect(service.calledBy(question.question)).toHaveLength(1);
  });

  // A machine that has no core to spare takes longer.
  it(
    'a client that connects again receives the first event that it has missed within 100 ms',
    { retry: 3 },
    async () => {
      const question = newQuestion();
      const times: number[] = [];
      let text = '';
      let lastEventId: string | undefined;
      let isEnded = false;
      while (!isEnded) {
        const connectedAt = performance.now();
        for await (const { data, event, id } of fetchEvents(service.origin, question, lastEventId)) {
          isEnded = event === 'end';
          if (isEnded) break;
          if (data === '') continue;
          times.push(performance.now() - connectedAt);
          text += JSON.parse(data);
          lastEventId = id;
          break;
        }
        // Meanwhile, it misses an event.
        await sleep(120);
      }
      expect(text).toMatch(answerTo(question.question));
      expect(service.calledBy(question.question)).toHaveLength(1);
      const median = times.toSorted((a, b) => a - b)[times.length >> 1];
      expect(median).toBeLessThan(100);
    },
  );

  it(
    'when the process of the model is killed, every client gets the reason lost, within 2 s if its connection goes on',
    { retry: 3 },
    async () => {
      const question = newQuestion();
      const all = connectClients(service.origin, question, 48);
      await expect.poll(() => all.every(({ text }) => text !== '')).toBe(true);
      const [producer = 0] = service.calledBy(question.question);
      const killedAt = performance.now();
      process.kill(producer, 'SIGKILL');
      const times = await Promise.all(
        all.map(async (received) => {
          expect(['lost', 'status 409']).toContain(await received.ended);
          return { ms: performance.now() - killedAt, wasCut: received.wasCut };
        }),
      );
      const connected = times.filter(({ wasCut }) => !wasCut);
      expect(connected.length).toBeGreaterThan(0);
      expect(Math.max(...connected.map(({ ms }) => ms))).toBeLessThan(2000);
    },
  );

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
