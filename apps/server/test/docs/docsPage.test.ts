import { expect, test } from 'vitest';
import { apiKey, sharedServer } from '../testing/newFolder.ts';

const server = sharedServer({ env: { API_KEY: apiKey } });

test('the docs page is the target of / and of the links of deprecated operations, without a credential, and has its scripts', async () => {
  const { origin } = server;
  const headers = { authorization: `Bearer ${apiKey}` };
  const { headers: linking } = await fetch(`${origin}/v1/pets/1`, { headers });
  const [, target] = /<([^>]*)>; rel="deprecation"/.exec(linking.get('link') ?? '') ?? [];
  const page = await (await fetch(new URL(target ?? '', origin))).text();
  expect(await (await fetch(`${origin}/`)).text()).toBe(page);
  const scripts = [...page.matchAll(/<script src="([^"]*)"/g)].map(([, source = '']) => source);
  expect(scripts).toHaveLength(2);
  for (const source of scripts) {
    const response = await fetch(new URL(source, `${origin}/docs`));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(await response.text()).toContain('createApiReference');
  }
});

test('the docs page has a policy that allows only scripts of its host, no requests to others and no framing', async () => {
  const page = await fetch(`${server.origin}/docs`);
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
