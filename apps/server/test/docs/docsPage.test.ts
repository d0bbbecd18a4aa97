import { describe, expect, test } from 'vitest';
import { apiKey, sharedServer } from '../testing/newFolder.ts';

const headers = { authorization: `Bearer ${apiKey}` };

describe('the docs page', () => {
  const server = sharedServer({ env: { API_KEY: apiKey } });

  test('the docs page is the target of / and of the links of deprecated operations, without a credential', async () => {
    const { origin } = server;
    const { headers: linking } = await fetch(`${origin}/v1/pets/1`, { headers });
    const [, target] = /<([^>]*)>; rel="deprecation"/.exec(linking.get('link') ?? '') ?? [];
    const page = await fetch(new URL(target ?? '', origin));
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const root = await fetch(`${origin}/`, { redirect: 'manual' });
    expect(root.status).toBe(302);
    expect(root.headers.get('location')).toBe('docs');
    expect(await (await fetch(`${origin}/`)).text()).toBe(await page.text());
  });

  test('the docs page has a policy that allows only scripts of its host, no requests to others and no framing', async () => {
    const { origin } = server;
    const page = await fetch(`${origin}/docs`);
    const policy = (page.headers.get('content-security-policy') ?? '').split('; ');
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
      ]),
    );
    expect(policy.join()).not.toMatch(/unsafe-eval|https?:|\*/);
    expect(await page.text()).not.toMatch(/(?:src|href)="(?:\w+:)?\/\//);
  });

  test('the docs page has its scripts, also when run from the sources', async () => {
    const { origin } = server;
    const page = await (await fetch(`${origin}/docs`)).text();
    const scripts = [...page.matchAll(/<script src="([^"]*)"/g)].map(([, source = '']) => source);
    expect(scripts).toHaveLength(2);
    for (const source of scripts) {
      const response = await fetch(new URL(source, `${origin}/docs`));
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
      expect(await response.text()).toContain('createApiReference');
    }
  });
});
