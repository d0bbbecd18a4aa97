import { createGateway } from 'trpc-gateway';
import { docsPage } from 'trpc-gateway-runtime/docs';
import { books } from './books.ts';

/** Serves books below `/api`: REST, tRPC, the document and its page. */
export const gateway = await createGateway({
  ...books,
  routes: docsPage({ path: '/api/docs', document: '/api/openapi.json' }),
});
