import { expect, test } from 'vitest';
import { apiKey } from '../testing/newFolder.ts';
import { startServerInProcess } from '../testing/startServerInProcess.ts';

test('the docs page is the target of / and of the links of deprecated operations, without a credential, and has its scripts', async () => {
  const { origin } = await startServerInProcess();
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
