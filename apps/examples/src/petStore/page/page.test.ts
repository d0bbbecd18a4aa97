import { type Browser, browserMissing, type Page as Tab, startBrowser } from '@petstore/testing/browser';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type PetStore, startPetStore } from '../startPetStore.ts';
import { type Page, servePage } from './servePage.ts';

describe.skipIf(browserMissing())('a page of another origin, in Chromium', () => {
  let page: Page;
  let store: PetStore;
  let browser: Browser;
  beforeAll(async () => {
    page = await servePage();
    store = await startPetStore([page.origin]);
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await store.close();
    page.close();
  });

  async function open(
    origin = page.origin,
  ): Promise<{ readonly tab: Tab; readonly errors: readonly string[] }> {
    const tab = await browser.newPage();
    onTestFinished(() => tab.close());
    const errors: string[] = [];
    tab.on('console', (message) => {
      if (message.type() === 'error') errors.push(message.text());
    });
    tab.on('pageerror', (error) => errors.push(error.message));
    await tab.goto(`${origin}/?api=${store.origin}`);
    return { tab, errors };
  }
  async function useKey(tab: Tab, key: string) {
    await tab.getByLabel('API key').fill(key);
    await tab.getByRole('button', { name: 'Use' }).click();
  }

  it('the page adds an animal and shows it, without an error', async () => {
    const { tab, errors } = await open();
    await useKey(tab, store.key);
    await tab.getByLabel('Name').fill('Rex');
    await tab.getByRole('button', { name: 'Add' }).click();
    await tab.getByRole('listitem').filter({ hasText: 'Rex' }).waitFor();
    expect(await tab.getByRole('status').textContent()).toBe('');
    expect(errors).toEqual([]);
  });

  it('the page shows that a key is invalid, because it can read the 401 response', async () => {
    const { tab } = await open();
    await useKey(tab, 'not-a-key');
    const message = tab.getByRole('status').filter({ hasText: 'This key is not valid.' });
    await expect(message.waitFor()).resolves.toBeUndefined();
  });

  it('the page shows no animals of the first key after another key is entered, and calls once with it', async () => {
    const { tab } = await open();
    const calls: string[] = [];
    tab.on('request', (request) => {
      if (request.method() === 'GET' && request.url().includes('/trpc/listPets')) calls.push(request.url());
    });
    await useKey(tab, store.key);
    await tab.getByLabel('Name').fill('Max');
    await tab.getByRole('button', { name: 'Add' }).click();
    await tab.getByRole('listitem').filter({ hasText: 'Max' }).waitFor();
    calls.length = 0;
    await useKey(tab, 'not-a-key');
    await tab.getByRole('status').filter({ hasText: 'This key is not valid.' }).waitFor({ timeout: 5000 });
    expect(await tab.getByRole('listitem').count()).toBe(0);
    expect(calls).toHaveLength(1);
  });

  it('the page gets no response if CORS_ORIGINS lacks its origin', async () => {
    // The same page at another origin.
    const { tab, errors } = await open(page.origin.replace('127.0.0.1', 'localhost'));
    await useKey(tab, store.key);
    await tab.getByText('There is no response.').waitFor();
    expect(errors.join()).toContain('blocked by CORS policy');
  });
});
