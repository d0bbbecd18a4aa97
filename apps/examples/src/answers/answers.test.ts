import { connectTools } from '@petstore/testing/connectTools';
import { providerProblems } from '@petstore/testing/providerProblems';
import { beforeAll, describe, expect, it } from 'vitest';
import { answerTo, authorization, newAnswers, newQuestion } from './testing/newAnswers.ts';

describe('an answer of a model on four processes', () => {
  let service: Awaited<ReturnType<typeof newAnswers>>;
  beforeAll(async () => {
    service = await newAnswers();
  });

  it('when the process of the model is killed, clients of the other processes get the reason lost', async () => {
    await expect.poll(service.workers).toHaveLength(4);
    const { id, question } = newQuestion();
    const url = `${service.origin}/v1/answers/${id}?${new URLSearchParams({ question })}`;
    const streams = await Promise.all(
      Array.from({ length: 16 }, () => fetch(url, { headers: { authorization } })),
    );
    const texts = streams.map((stream) => stream.text().catch(() => 'of the killed process'));
    await expect.poll(() => service.calledBy(question)).toHaveLength(1);
    process.kill(service.calledBy(question)[0] ?? 0, 'SIGKILL');
    const ends = await Promise.all(texts);
    for (const end of ends) expect(end).toMatch(/^of the killed process$|"reason":"lost"/);
    expect(ends.some((end) => end.includes('"reason":"lost"'))).toBe(true);
  });

  it('an agent receives the words of the answer as progress, again if it calls again, and the model is called once', async () => {
    const client = await connectTools(service.origin, { headers: { authorization } });
    const { tools } = await client.listTools();
    expect(tools.flatMap((tool) => providerProblems(tool))).toEqual([]);
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
