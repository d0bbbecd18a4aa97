import { appRouter } from '@petstore/core';

/** What the gateway is told about the pet store, whether it serves it or only describes it. */
export const service = {
  router: appRouter,
  realm: 'petstore',
  document: {
    title: 'Pet Store',
    version: '1.0.0',
    description: 'Animals that are available for adoption in a store.',
    tags: [{ name: 'pets', description: 'The animals of the store.' }],
  },
} as const;
