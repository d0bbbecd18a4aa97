import { appRouter } from '@petstore/core';
import { mcp } from 'trpc-gateway/mcp';

/** Options of `bearer`: the realm of `WWW-Authenticate`, and the credential's name in messages. */
export const apiKeyCredential = { realm: 'petstore', noun: 'API key' } as const;

/** The gateway options shared by serving the pet store and printing its document. */
export const service = {
  router: appRouter,
  maskUnexpectedErrors: true,
  mcp: mcp(),
  document: {
    title: 'Pet Store',
    version: '1.0.0',
    description: [
      'Animals that are available for adoption in a store.',
      'Every call requires an API key as a bearer token. An error is `{ code, message, status }`, and its message names each invalid field. Lists are paginated, and each page links to the next one. A create with an `Idempotency-Key` is executed once, however often it is sent.',
    ].join('\n\n'),
    license: { name: 'MIT', identifier: 'MIT' },
    tags: [{ name: 'pets', description: 'The animals of the store.' }],
  },
} as const;
