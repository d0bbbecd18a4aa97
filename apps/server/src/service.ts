import { appRouter } from '@petstore/core';

/** What `bearer` says of the credential: the realm of `WWW-Authenticate`, and its name in messages. */
export const apiKey = { realm: 'petstore', noun: 'API key' } as const;

/** What the gateway is told about the pet store, whether it serves it or only describes it. */
export const service = {
  router: appRouter,
  document: {
    title: 'Pet Store',
    version: '1.0.0',
    description: [
      'Animals that are available for adoption in a store.',
      'Every call carries an API key as a bearer token. An error is `{ code, message, status }`, and its message names each field that is wrong. A list comes in pages, and a page that has a successor links to it. A create that carries an `Idempotency-Key` happens once, however often it is sent.',
    ].join('\n\n'),
    license: { name: 'MIT', identifier: 'MIT' },
    tags: [{ name: 'pets', description: 'The animals of the store.' }],
  },
} as const;
