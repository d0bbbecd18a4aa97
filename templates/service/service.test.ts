import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTRPCClient, httpLink } from '@trpc/client';
import { openGateway } from './gateway.ts';
import type { AppRouter } from './router.ts';

const { fetch } = await openGateway('a-key');
const headers = { authorization: 'Bearer a-key' };
const links = [httpLink({ url: 'http://localhost/trpc', headers, fetch })];

test('a book that was added over tRPC is returned over REST', async () => {
  const { id } = await createTRPCClient<AppRouter>({ links }).addBook.mutate({ title: 'Emma' });
  const response = await fetch(`http://localhost/v1/books/${id}`);
  assert.deepEqual(await response.json(), { id, title: 'Emma' });
});

test('POST /v1/books without the API key is rejected with 401', async () => {
  const { status } = await fetch('http://localhost/v1/books', { method: 'POST' });
  assert.equal(status, 401);
});
