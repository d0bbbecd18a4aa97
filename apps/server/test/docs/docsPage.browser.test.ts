import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Browser, browserMissing, type Page, startBrowser } from '@petstore/testing/browser';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { apiKey, newFolder } from '../testing/newFolder.ts';

const execute = promisify(execFile);

describe.skipIf(browserMissing())('the docs page in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  /** Opens the docs page of a new server. Fails the test if the page sends a request to another host. */
  async function open() {
    const { origin } = await (await newFolder()).serve({ env: { API_KEY: apiKey } });
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    const errors: string[] = [];
    const hosts = new Set<string>();
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) errors.push(message.text());
    });
    page.on('pageerror', (error) => errors.push(error.message));
    // `data:` URLs cause no requests.
    context.on('request', (request) => {
      if (!request.url().startsWith('data:')) hosts.add(new URL(request.url()).origin);
    });
    onTestFinished(async () => {
      await context.close();
      expect([...hosts]).toEqual([origin]);
    });
    await page.goto(`${origin}/`);
    await page.getByRole('heading', { name: 'Pet Store' }).waitFor();
    return { origin, page, errors };
  }

  const enterKey = (page: Page, key: string) => page.getByPlaceholder('Token').first().fill(key);

  /** Sends a request of an operation with the page's form. */
  async function tryOut(page: Page, operation: string) {
    const name = new RegExp(`^Test Request\\s*\\(${operation}\\)$`, 'i');
    await page.getByRole('button', { name }).click();
    const received = page.waitForResponse((response) => response.url().includes('/v1/'));
    await page.getByRole('button', { name: /^Send \w+ request to/ }).click();
    return received;
  }

  test('the docs page shows every operation, and the deprecated one struck out with its dates', async () => {
    const { page, errors } = await open();
    for (const operation of ['List animals', 'Add an animal', 'Get an animal']) {
      const heading = page.getByRole('heading', { name: operation });
      await page.getByRole('link', { name: operation }).first().click();
      await heading.waitFor();
    }
    // As text, because it uses the browser's globals.
    const struckOut = await page.evaluate<string[]>(`
      [...document.querySelectorAll('a')]
        .filter((link) => [link, ...link.querySelectorAll('*')]
          .some((each) => getComputedStyle(each).textDecorationLine === 'line-through'))
        .map((link) => link.textContent)`);
    expect(struckOut).toContainEqual(expect.stringContaining('Get an animal'));
    expect(struckOut.filter((text) => !/Get an animal|petId/.test(text))).toEqual([]);
    await page.getByText('Deprecated since 20 November 2026, removed on 5 December 2030.').waitFor();
    expect(errors).toEqual([]);
  });

  test('the docs page sends a call with the entered key and shows the response', async () => {
    const { page, errors, origin } = await open();
    await enterKey(page, apiKey);
    const created = await tryOut(page, 'post /pets');
    expect(created.status()).toBe(201);
    await page.getByText('201 Created').first().waitFor();
    await page.keyboard.press('Escape');
    const listed = await tryOut(page, 'get /pets');
    expect(listed.status()).toBe(200);
    expect(new URL(listed.url()).origin).toBe(origin);
    expect(await listed.json()).toEqual([{ id: 1, name: 'Rex', categoryId: 1, status: 'available' }]);
    expect(errors).toEqual([]);
  });

  test('Test Request without an API key sends nothing and shows a message', async () => {
    const { page, errors } = await open();
    const calls: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/v1/')) calls.push(request.url());
    });
    await page.getByRole('button', { name: /^Test Request\s*\(get \/pets\)$/i }).click();
    await page.getByRole('button', { name: /^Send \w+ request to/ }).click();
    await page.getByText('Enter an API key as the token first.').first().waitFor();
    // Scalar logs the message too.
    expect([calls, errors]).toEqual([[], [expect.stringContaining('Enter an API key as the token first.')]]);
  });

  test('the docs page shows curl commands that work when pasted', async () => {
    const { page } = await open();
    await enterKey(page, apiKey);
    for (const operation of ['List animals', 'Get an animal']) {
      await page.getByRole('link', { name: operation }).first().click();
      await page.getByRole('heading', { name: operation }).waitFor();
    }
    const lines = page.locator('pre').filter({ hasText: /^curl / });
    await expect.poll(() => lines.count()).toBe(3);
    const [list = '', create = '', get = ''] = await lines.allTextContents();
    const run = async (line: string) => {
      // The page hides the key by default.
      const { stdout } = await execute('bash', ['-c', `${line.trim()} --silent`]);
      return JSON.parse(stdout) as unknown;
    };
    const rex = { id: 1, name: 'Rex', categoryId: 1, status: 'available' };
    expect(await run(create)).toEqual(rex);
    expect(await run(list)).toEqual([rex]);
    expect(await run(get)).toEqual(rex);
  });
});
