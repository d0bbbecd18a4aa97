import { createServer } from 'node:http';
import { browserMissing, startBrowser } from '@petstore/testing/browser';
import { freePort } from '@petstore/testing/freePort';
import { expect, it, onTestFinished } from 'vitest';
import { startAgent } from './testing/agent.ts';
import { credentialsOf, newNotes } from './testing/newNotes.ts';

it.skipIf(browserMissing())(
  'a user signs in and allows an agent in a browser, which then calls',
  async () => {
    const { origin, ada } = await newNotes();
    const port = await freePort();
    const called = Promise.withResolvers<URL>();
    const agentServer = createServer((request, response) => {
      called.resolve(new URL(request.url ?? '', `http://127.0.0.1:${port}`));
      response.end('Go back to the agent.');
    }).listen(port, '127.0.0.1');
    onTestFinished(() => void agentServer.close());
    const { authorization, finish } = await startAgent(origin, `http://127.0.0.1:${port}/callback`);

    const browser = await startBrowser();
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    const problems: string[] = [];
    page.on('console', (message) => problems.push(message.text()));
    page.on('pageerror', (error) => problems.push(error.message));
    await page.goto(String(authorization));
    const { email, password } = credentialsOf('ada');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button').click();
    await page.getByText('Test agent').waitFor();
    const text = await page.locator('body').textContent();
    for (const shown of [`127.0.0.1:${port}`, 'notes:read', 'notes:write']) expect(text).toContain(shown);
    await page.getByRole('button', { name: 'Allow' }).click();

    const { client } = await finish(await called.promise);
    const { structuredContent } = await client.callTool({ name: 'addNote', arguments: { text: 'a' } });
    expect(structuredContent).toMatchObject({ text: 'a', author: ada });
    expect(problems).toEqual([]);
  },
);
