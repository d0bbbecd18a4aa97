import { describe, expect, test } from 'vitest';
import { apiKey, newFolder } from './testing/newFolder.ts';

const headers = { authorization: `Bearer ${apiKey}` };

/** 5 December 2030, as the page writes a date. */
const inWords = (date: Date) => date.toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

describe('the page that answers of a deprecated operation link to', () => {
  test('is there for everybody, and may load nothing', async () => {
    const { serve } = await newFolder();
    const { origin } = await serve({ env: { API_KEY: apiKey } });
    const { headers: linking } = await fetch(`${origin}/v1/pets/1`, { headers });
    const [, target] = /<([^>]*)>; rel="deprecation"/.exec(linking.get('link') ?? '') ?? [];
    const answer = await fetch(new URL(target ?? '', origin));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none';/);
    expect(await answer.text()).toMatch(/^<!doctype html>/);
  });

  test('names every operation and says of the deprecated one what its headers say', async () => {
    const { serve } = await newFolder();
    const { origin } = await serve({ env: { API_KEY: apiKey } });
    const page = await (await fetch(`${origin}/docs`)).text();
    const document = (await (await fetch(`${origin}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, { operationId }] of Object.entries(methods)) {
        expect(page).toContain(`<code>${method.toUpperCase()} /v1${path}</code> (${operationId})`);
      }
    }
    const { headers: told } = await fetch(`${origin}/v1/pets/1`, { headers });
    const since = Number(told.get('deprecation')?.slice(1)) * 1000;
    const sunset = told.get('sunset') ?? '';
    for (const date of [since, sunset]) expect(page).toContain(inWords(new Date(date)));
    expect(page).toContain('<a href="openapi.json">');
  });
});
