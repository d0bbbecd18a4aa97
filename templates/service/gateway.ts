import { hash, timingSafeEqual } from 'node:crypto';
import { bearer, createGateway } from 'trpc-gateway';
import type { StartContext } from 'trpc-gateway-runtime';
import { appRouter } from './router.ts';

const digest = (text: string) => hash('sha256', text, 'buffer');

/** Creates the gateway. `run` passes `options`, with the health checks, the docs page and the log. */
export const openGateway = (apiKey: string, options?: StartContext['options']) =>
  createGateway({
    ...options,
    router: appRouter,
    document: { title: 'Books', version: '1.0.0' },
    // Before `createContext`, so that TypeScript infers the type of `identity` there.
    authentication: bearer({
      noun: 'API key',
      verify: (key) => timingSafeEqual(digest(key), digest(apiKey)),
    }),
    createContext: () => ({}),
    // `npm run dev` sends the messages of unexpected errors.
    maskUnexpectedErrors: process.env['NODE_ENV'] !== 'development',
  });
