import { describe, expect, it } from 'vitest';
import { headersOf, OutgoingResponse, ResponseControls } from './response.ts';

it('response.header replaces earlier values of a header, in any case of its name, and response.append keeps them', () => {
  const controls = new ResponseControls();
  controls.append('Link', 'a');
  controls.append('X-Total', '1');
  controls.append('link', 'b');
  expect(controls.headers).toEqual([
    ['link', 'a'],
    ['x-total', '1'],
    ['link', 'b'],
  ]);
  controls.header('LINK', 'c');
  expect(controls.headers).toEqual([
    ['x-total', '1'],
    ['link', 'c'],
  ]);
});

it.each([
  ['X Total', '1'],
  ['x-total', '1\r\nx-other: 2'],
  ['Content-Length', '1'],
])('response.header and response.append reject the header %j with the value %j', (name, value) => {
  const controls = new ResponseControls();
  const message = `The response header ${JSON.stringify(name)} is not valid: its name must be a token, and its value must not contain CR, LF or NUL. Connection, Content-Length, Trailer and Transfer-Encoding are set by the server.`;
  expect(() => controls.header(name, value)).toThrow(new TypeError(message));
  expect(() => controls.append(name, value)).toThrow(new TypeError(message));
  expect(controls.headers).toEqual([]);
});

it('response.replayed sets Idempotent-Replayed, and response.redirect sets Location and the status', () => {
  const controls = new ResponseControls();
  controls.replayed();
  controls.redirect('/v1/pets/1', 303);
  expect(controls).toMatchObject({
    status: 303,
    headers: [
      ['idempotent-replayed', 'true'],
      ['location', '/v1/pets/1'],
    ],
  });
});

describe('OutgoingResponse', () => {
  const shared = [['content-type', 'text/plain']] as const;
  const create = (body?: OutgoingResponse['body']) => new OutgoingResponse(200, [['x-a', '1']], body, shared);

  it('get reads own and shared headers, and ignores case', () => {
    const response = create();
    expect([response.get('X-A'), response.get('Content-Type'), response.get('x-b')]).toEqual([
      '1',
      'text/plain',
      undefined,
    ]);
  });

  it('header, append and delete do not modify the shared list', () => {
    const response = create();
    response.append('X-a', '2');
    response.header('x-A', '3');
    response.append('x-b', '4');
    response.header('Content-Type', 'text/html');
    response.delete('missing');
    expect(Object.fromEntries(headersOf(response))).toEqual({
      'x-a': '3',
      'x-b': '4',
      'content-type': 'text/html',
    });
    response.delete('CONTENT-TYPE');
    expect(response.get('content-type')).toBeUndefined();
    expect(shared).toEqual([['content-type', 'text/plain']]);
  });

  it.each([199, 600, 200.5, NaN, '200'])('applyStatus rejects %j', (status) => {
    const response = create();
    response.status = status as number;
    expect(() => response.applyStatus()).toThrow(RangeError);
  });

  it.each([
    [200, 'body'],
    [201, 'body'],
    [204, undefined],
    [205, undefined],
    [304, undefined],
    [599, 'body'],
  ])('applyStatus of %i leaves the body %s', (status, body) => {
    const response = create('body');
    response.status = status;
    response.applyStatus();
    expect(response.body).toBe(body);
  });

  it('removeBody cancels a stream', async () => {
    let isCancelled = false;
    const body = new ReadableStream({ cancel: () => void (isCancelled = true) });
    create(body as never).removeBody();
    await expect.poll(() => isCancelled).toBe(true);
  });
});
