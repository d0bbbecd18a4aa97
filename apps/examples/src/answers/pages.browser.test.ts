import { type Browser, browserMissing, startBrowser } from '@petstore/testing/browser';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { answerTo, newAnswers } from './testing/newAnswers.ts';

describe.skipIf(browserMissing())('an answer in a browser, from four processes', () => {
  let service: Awaited<ReturnType<typeof newAnswers>>;
  let browser: Browser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([newAnswers(), startBrowser()]);
  });
  afterAll(() => browser?.close());

  it.each([
    { name: 'the page with EventSource', path: '/', output: 'output' },
    { name: 'the page with useChat', path: '/chat', output: '[data-role=assistant]' },
  ])(
    '$name is reloaded during the answer and shows all of it, and the model is called once',
    async ({ path, output }) => {
      const page = await browser.newPage({ httpCredentials: { username: 'ada', password: 'demo' } });
      onTestFinished(() => page.close());
      const problems: string[] = [];
      page.on('console', (message) => problems.push(message.text()));
      page.on('pageerror', (error) => problems.push(error.message));
      await page.goto(service.origin + path);
      const question = `Why ${path}?`;
      await page.getByLabel('Question').fill(question);
      await page.getByRole('button', { name: 'Ask' }).click();
      const shown = page.locator(output);
      for (const word of ['slowly', 'says so', 'three']) {
        await expect.poll(() => shown.textContent()).toContain(word);
        await page.reload();
      }
      await expect.poll(() => shown.textContent()).toMatch(answerTo(question));
      expect(service.calledBy(question)).toHaveLength(1);
      expect(problems).toEqual([]);
    },
  );
});
