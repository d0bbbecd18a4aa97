import { expect, it } from 'vitest';
import type { HttpRequest } from '../http/request.ts';
import { OutgoingResponse } from '../http/outgoingResponse.ts';
import { createCompletion } from './completion.ts';
import type { Policy } from './policy.ts';
import { Recorder } from './recorder.ts';
import { RequestScope } from './requestScope.ts';

type OnSend = Parameters<typeof createCompletion>[0]['onSend'];

const copiesPolicy: OnSend = (_request, { headers }) =>
  headers.set('x-last', headers.get('x-policy') ?? 'none');

function start(policies: readonly Policy<unknown>[], onSend = copiesPolicy) {
  const records: unknown[] = [];
  const completion = createCompletion({
    policies,
    onSend,
    recorder: new Recorder({ onResponse: ({ status, error }) => records.push([status, error]) }),
    errorResponse: ({ code }) => new OutgoingResponse(500, [], code),
  });
  const request = { method: 'GET', path: '/', receivedBytes: 0 } as HttpRequest;
  return { ...completion, records, scope: new RequestScope(request, 'rest', 'id-1', 0) };
}

const adds: Policy<unknown> = { complete: (_scope, { headers }) => void headers.push(['x-policy', '1']) };

it('complete runs the policies in order and onSend last, and does not modify a shared response object', () => {
  const { complete, records, scope } = start([adds]);
  scope.addHeader('x-scope', '1');
  const page = { status: 200, headers: [['x-own', '1']], body: 'page' } as const;
  expect(complete(scope, page)).toMatchObject({
    status: 200,
    headers: [
      ['x-own', '1'],
      ['x-scope', '1'],
      ['x-policy', '1'],
      ['x-request-id', 'id-1'],
      ['x-last', '1'],
    ],
  });
  expect(page.headers).toHaveLength(1);
  expect(records).toEqual([[200, undefined]]);
});

it('complete answers 500 if a policy throws, and reports the error of the policy', () => {
  const cause = new Error('a policy');
  let isFirst = true;
  const throwsOnce: Policy<unknown> = {
    complete() {
      if (!isFirst) return;
      isFirst = false;
      throw cause;
    },
  };
  const { complete, records, scope } = start([throwsOnce, adds]);
  expect(complete(scope, { status: 200, headers: [] })).toMatchObject({
    status: 500,
    body: 'INTERNAL_SERVER_ERROR',
    headers: expect.arrayContaining([['x-policy', '1']]),
  });
  expect(records).toEqual([[500, cause]]);
});

it('complete answers 500 with the headers of the scope and of the policies, each once, if onSend throws', () => {
  const cause = new Error('onSend');
  const { complete, records, scope } = start([adds], (_request, { headers }) => {
    headers.set('x-sent', '1');
    throw cause;
  });
  scope.addHeader('ratelimit', '"default";r=1');
  const response = complete(scope, { status: 200, headers: [['x-own', '1']], body: 'page' });
  expect(response).toMatchObject({
    status: 500,
    headers: [
      ['ratelimit', '"default";r=1'],
      ['x-policy', '1'],
      ['x-request-id', 'id-1'],
    ],
    body: 'INTERNAL_SERVER_ERROR',
  });
  expect(records).toEqual([[500, cause]]);
});
