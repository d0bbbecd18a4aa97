import { describe, expect, it } from 'vitest';
import { OutgoingResponse } from '../http/outgoingResponse.ts';
import { HookedResponse } from './hookedResponse.ts';

const shared = [['content-type', 'text/plain']] as const;
const draftOf = (body?: OutgoingResponse['body']) => new OutgoingResponse(200, [['x-a', '1']], body, shared);

describe('HookedResponse.status', () => {
  it.each([199, 600, 200.5, NaN, '200'])('HookedResponse.status rejects %j', (status) => {
    const draft = draftOf();
    const response = new HookedResponse(draft);
    expect(() => (response.status = status as number)).toThrow(RangeError);
    expect(response.status).toBe(200);
  });

  it.each([
    [200, 'body'],
    [201, 'body'],
    [204, undefined],
    [205, undefined],
    [304, undefined],
    [599, 'body'],
  ])('setting HookedResponse.status to %i leaves the body %s', (status, body) => {
    const draft = draftOf('body');
    new HookedResponse(draft).status = status;
    expect([draft.status, draft.body]).toEqual([status, body]);
  });

  it('setting HookedResponse.status to 204 cancels a streamed body', async () => {
    let isCancelled = false;
    const body = new ReadableStream({ cancel: () => void (isCancelled = true) });
    new HookedResponse(draftOf(body as never)).status = 204;
    await expect.poll(() => isCancelled).toBe(true);
  });
});

describe('HookedResponse.headers', () => {
  it('HookedResponse.headers.get reads own and shared headers, and ignores case', () => {
    const { headers } = new HookedResponse(draftOf());
    expect([headers.get('X-A'), headers.get('Content-Type'), headers.get('x-b')]).toEqual([
      '1',
      'text/plain',
      undefined,
    ]);
    expect(Object.fromEntries(headers)).toEqual({ 'content-type': 'text/plain', 'x-a': '1' });
  });

  it('HookedResponse.headers sets, appends and deletes headers without modifying the shared list', () => {
    const draft = draftOf();
    const { headers } = new HookedResponse(draft);
    headers.append('X-a', '2');
    headers.set('x-A', '3');
    headers.append('x-b', '4');
    headers.set('Content-Type', 'text/html');
    headers.delete('missing');
    expect(Object.fromEntries(headers)).toEqual({ 'Content-Type': 'text/html', 'x-A': '3', 'x-b': '4' });
    headers.delete('CONTENT-TYPE');
    expect(headers.get('content-type')).toBeUndefined();
    expect(shared).toEqual([['content-type', 'text/plain']]);
  });

  it.each([
    ['a b', '1'],
    ['', '1'],
    ['x-a', 'a\r\nb: c'],
    ['x-a', 'a\0'],
    ['Content-Length', '1'],
    ['Transfer-Encoding', 'chunked'],
  ])('HookedResponse.headers rejects %j: %j and stays unchanged', (name, value) => {
    const { headers } = new HookedResponse(draftOf());
    expect(() => headers.set(name, value)).toThrow(TypeError);
    expect(() => headers.append(name, value)).toThrow(TypeError);
    expect(headers.get('x-a')).toBe('1');
  });
});
