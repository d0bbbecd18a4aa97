import { expect, it } from 'vitest';
import { RequestContext } from '../calls/requestContext.ts';
import type { HttpRequest } from '../http/request.ts';
import { crossSiteError, crossSitePolicy } from './crossSite.ts';
import { createCredentialOrigins } from './origins.ts';

const policy = crossSitePolicy(createCredentialOrigins([], undefined));

/** Runs the policy. @returns its error, and the names of the headers that it has read */
function check(method: string, headers: Record<string, string>) {
  const read: string[] = [];
  const request = {
    method,
    header(name: string) {
      read.push(name);
      return headers[name];
    },
    headers() {
      read.push('all');
      return Object.entries(headers);
    },
  } as Partial<HttpRequest> as HttpRequest; // What the policy reads.
  const error = policy.admit?.(new RequestContext(request, 'rest', 'id', 0));
  return { error, read };
}

it('a GET reads no header, and a POST of JSON only its type', () => {
  const program = { host: 'api.example', cookie: 'a=b' };
  expect(check('GET', program)).toEqual({ error: undefined, read: [] });
  for (const type of ['application/json', 'application/json; charset=utf-8', 'application/octet-stream']) {
    const json = { ...program, 'content-type': type };
    expect(check('POST', json)).toEqual({ error: undefined, read: ['content-type'] });
  }
  expect(check('DELETE', program)).toEqual({ error: undefined, read: [] });
});

it('a POST of a form by a program does not read all headers', () => {
  const form = { host: 'api.example', 'content-type': 'multipart/form-data; boundary=x' };
  const { error, read } = check('POST', form);
  expect([error, read.includes('all')]).toEqual([undefined, false]);
  expect(check('POST', { ...form, origin: 'https://evil.example' }).error).toBeUndefined();
  expect(check('POST', { ...form, origin: 'https://evil.example', cookie: 'a=b' }).error).toBe(
    crossSiteError,
  );
});
