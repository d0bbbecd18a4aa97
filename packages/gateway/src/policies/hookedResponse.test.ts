import { describe, expect, it } from 'vitest';
import { ResponseDraft } from '../http/responseDraft.ts';
import { HookedResponse } from './hookedResponse.ts';

const shared = [['content-type', 'text/plain']] as const;
const draftOf = (body?: ResponseDraft['body']) => new ResponseDraft(200, [['x-a', '1']], body, shared);

describe('the status of a response', () => {
  it.each([199, 600, 200.5, NaN, '200'])('rejects %j', (status) => {
    const draft = draftOf();
    const response = new HookedResponse(draft);
    expect(() => (response.status = status as number)).toThrow(RangeError);
    expect(response.status).toBe(200);
  });

  it.each([
    [201, 'body'],
    [204, undefined],
    [205, undefined],
    [304, undefined],
    [599, 'body'],
  ])('%i leaves the body %s', (status, body) => {
    const draft = draftOf('body');
    new HookedResponse(draft).status = status;
    expect([draft.status, draft.body]).toEqual([status, body]);
  });

  it('without a body ends the stream that it had', async () => {
    let isCancelled = false;
    const body = new ReadableStream({ cancel: () => void (isCancelled = true) });
    new HookedResponse(draftOf(body as never)).status = 204;
    await expect.poll(() => isCancelled).toBe(true);
  });
});

describe('the headers of a response', () => {
  it('are read in any case, those that are shared too', () => {
    const { headers } = new HookedResponse(draftOf());
    expect([headers.get('X-A'), headers.get('Content-Type'), headers.get('x-b')]).toEqual([
      '1',
      'text/plain',
      undefined,
    ]);
    expect(Object.fromEntries(headers)).toEqual({ 'content-type': 'text/plain', 'x-a': '1' });
  });

  it('set replaces each of a name, append adds, and delete leaves what others share as it is', () => {
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
  ])('reject %j: %j, and stay as they were', (name, value) => {
    const { headers } = new HookedResponse(draftOf());
    expect(() => headers.set(name, value)).toThrow(TypeError);
    expect(() => headers.append(name, value)).toThrow(TypeError);
    expect(headers.get('x-a')).toBe('1');
  });
});
