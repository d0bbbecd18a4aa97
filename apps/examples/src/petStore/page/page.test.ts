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
  ): Promise<{ readonly tab: Tab; readonly faults: readonly string[] }> {
    const tab = await browser.newPage();
    onTestFinished(() => tab.close());
    const faults: string[] = [];
    tab.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text());
    });
    tab.on('pageerror', (error) => faults.push(error.message));
    await tab.goto(`${origin}/?api=${store.origin}`);
    return { tab, faults };
  }
  async function useKey(tab: Tab, key: string) {
    await tab.getByLabel('API key').fill(key);
    await tab.getByRole('button', { name: 'Use' }).click();
  }

  it('adds an animal and shows it, without a fault', async () => {
    const { tab, faults } = await open();
    await useKey(tab, store.key);
    await tab.getByLabel('Name').fill('Rex');
    await tab.getByRole('button', { name: 'Add' }).click();
    await tab.getByRole('listitem').filter({ hasText: 'Rex' }).waitFor();
    expect(await tab.getByRole('status').textContent()).toBe('');
    expect(faults).toEqual([]);
  });

  it('is told that a key is not valid: the 401 reaches the page', async () => {
    const { tab } = await open();
    await useKey(tab, 'not-a-key');
    const told = tab.getByRole('status').filter({ hasText: 'This key is not valid.' });
    await expect(told.waitFor()).resolves.toBeUndefined();
  });

  it('is told nothing where CORS_ORIGINS does not name its origin', async () => {
    // The same page, but another origin for a browser.
    const { tab, faults } = await open(page.origin.replace('127.0.0.1', 'localhost'));
    await useKey(tab, store.key);
    await tab.getByText('There is no answer.').waitFor();
    expect(faults.join()).toContain('blocked by CORS policy');
  });
});
